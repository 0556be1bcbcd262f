import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** What Postgres itself takes. */
const ITERATIONS = 4_096;

/**
 * What Postgres keeps of a password, by RFC 5802 and 7677. As the password of a statement it is taken as it is, whatever
 * password_encryption says, so that no log and no statistics of the server ever have the password itself.
 */
export function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, ITERATIONS, 32, 'sha256');
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const serverKey = keyOf('Server Key').toString('base64');
  return `SCRAM-SHA-256$${String(ITERATIONS)}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
