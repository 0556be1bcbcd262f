import { DockerContainer } from '../origins/docker-container.js';
import { defaultSettings, settingArguments, superuser, type PostgresOptions } from './postgres-options.js';

export function launchDockerPostgres(options: PostgresOptions, password: string): Promise<DockerContainer> {
  if (options.persistTo !== undefined) throw new Error('persistTo needs local binaries');
  // In a container these are the image's business: its socket serves the set-up, its /dev/shm goes with it.
  const { unix_socket_directories: _socket, dynamic_shared_memory_type: _memory, ...defaults } = defaultSettings;
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
    command: ['postgres', ...settingArguments({ ...defaults, ...options.settings })],
  });
}
