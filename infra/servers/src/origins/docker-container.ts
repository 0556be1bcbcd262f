import { setTimeout as delay } from 'node:timers/promises';
import type { StartedTestContainer } from 'testcontainers';
import { freePort } from '../process/free-port.js';
import { requireDockerEngine } from './docker-engine.js';
import type { ServerProcess } from './server-process.js';

export interface ContainerSpec {
  readonly image: string;
  readonly containerPort: number;
  /** On the host; a free one by default. It is fixed, for a server that is restarted must come back there. */
  readonly port?: number | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  /** What the server logs when it is up. Asking for the port would need tools in the image, and minutes without. */
  readonly upMessage: RegExp;
}

/** Has an image on this machine. */
export async function pullImage(image: string): Promise<void> {
  await requireDockerEngine();
  const { ImageName, getContainerRuntimeClient } = await import('testcontainers');
  await (await getContainerRuntimeClient()).image.pull(ImageName.fromString(image));
}

/** A server in a container. testcontainers' reaper removes it when this process dies. */
export class DockerContainer implements ServerProcess {
  readonly origin = 'docker';
  readonly host: string;
  readonly port: number;
  readonly #started: StartedTestContainer;
  readonly #engine: EngineContainer;
  #running = true;

  static async launch(spec: ContainerSpec): Promise<DockerContainer> {
    await requireDockerEngine();
    const { GenericContainer, Wait, getContainerRuntimeClient } = await import('testcontainers');
    const port = spec.port ?? (await freePort());
    const started = await new GenericContainer(spec.image)
      .withExposedPorts({ container: spec.containerPort, host: port })
      .withEnvironment({ ...spec.environment })
      .withCommand([...spec.command])
      // By which a replica in a container reaches its source, that is published on the machine.
      .withExtraHosts([{ host: 'host.docker.internal', ipAddress: 'host-gateway' }])
      .withWaitStrategy(Wait.forLogMessage(spec.upMessage))
      .start();
    const client = await getContainerRuntimeClient();
    return new DockerContainer(started, client.container.getById(started.getId()), port);
  }

  private constructor(started: StartedTestContainer, engine: EngineContainer, port: number) {
    this.#started = started;
    this.#engine = engine;
    this.host = started.getHost();
    this.port = port;
  }

  get running(): boolean {
    return this.#running;
  }

  async start(): Promise<void> {
    if (this.#running) return;
    await this.#engine.start();
    this.#running = true;
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    if (this.#running) await this.#engine.kill({ signal });
  }

  async exited(deadlineMs: number): Promise<boolean> {
    const giveUpAt = Date.now() + deadlineMs;
    for (;;) {
      this.#running = (await this.#engine.inspect()).State.Running;
      if (!this.#running || Date.now() > giveUpAt) return !this.#running;
      await delay(50);
    }
  }

  async kill(): Promise<void> {
    if (!this.#running) return;
    // The kernel ends every process of the container with its first one.
    await this.#engine.kill({ signal: 'SIGKILL' });
    await this.exited(30_000);
  }

  async close(): Promise<void> {
    this.#running = false;
    await this.#started.stop({ timeout: 0 });
  }

  async diagnosis(): Promise<string> {
    const lines: string[] = [];
    for await (const chunk of await this.#started.logs({ tail: 15 })) lines.push(String(chunk));
    return `The end of its log:\n${lines.join('')}`;
  }
}

/** The slice of dockerode that is used here. */
interface EngineContainer {
  start(): Promise<unknown>;
  kill(options: { signal: string }): Promise<unknown>;
  inspect(): Promise<{ State: { Running: boolean } }>;
}
