import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { NpmPackages } from '@strandline/test-kit';

const root = path.resolve(import.meta.dirname, '..', '..', '..');

export const packages = new NpmPackages({
  source: path.join(import.meta.dirname, 'npm'),
  cache: path.join(root, '.cache', 'outbox-libraries'),
  afterwards: generatePrismaClients,
});

/**
 * Prisma's clients run without an engine, and are made without one. Its command would all the same download the one for
 * schemas, unless it is told of a file that is there.
 */
async function generatePrismaClients(directory: string): Promise<void> {
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
  const command = path.join('node_modules', 'prisma', 'build', 'index.js');
  for (const schema of ['postgres.prisma', 'mysql.prisma'])
    await promisify(execFile)(process.execPath, [command, 'generate', '--schema', schema, '--no-hints'], {
      cwd: directory,
      env,
    });
}
