import { DockerContainer } from '../origins/docker-container.js';
import { defaultSettings, settingArguments, superuser, type PostgresOptions } from './postgres-options.js';

export function launchDockerPostgres(options: PostgresOptions, password: string): Promise<DockerContainer> {
  if (options.persistTo !== undefined) throw new Error('persistTo needs local binaries');
  return DockerContainer.launch({
    image: 'postgres:18',
    containerPort: 5432,
    port: options.port,
    environment: {
      POSTGRES_USER: superuser,
      POSTGRES_PASSWORD: password,
      POSTGRES_DB: 'postgres',
      POSTGRES_INITDB_ARGS: '--encoding=UTF8 --locale=C --auth-host=scram-sha-256',
    },
    // The image says so twice, the first time of a server that only sets things up; who asks the port will see.
    upMessage: /ready to accept connections/,
    command: ['postgres', ...settingArguments({ ...defaultSettings, ...options.settings })],
  });
}
