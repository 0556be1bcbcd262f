import { DockerContainer } from '../origins/docker-container.js';
import type { MysqlKind } from './mysql-kind.js';
import { commonSettings, settingArguments, type MysqlOptions } from './mysql-options.js';

export function launchDockerMysql(
  kind: MysqlKind,
  options: MysqlOptions,
  password: string,
): Promise<DockerContainer> {
  return DockerContainer.launch({
    image: imageOf(kind, options.version),
    containerPort: 3306,
    port: options.port,
    environment: { [kind.imagePasswordVariable]: password },
    // While the images set themselves up, a server runs that says it is at port 0.
    upMessage: /port: 3306\b/,
    command: settingArguments(commonSettings(), kind.settings, options.settings ?? {}),
  });
}

export function imageOf({ image, versions }: MysqlKind, version: string | undefined): string {
  return `${image}:${version ?? versions[0].version}`;
}
