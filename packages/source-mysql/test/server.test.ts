import { expect, test } from 'vitest';
import { statusStatement } from '../src/server.js';

test.each([
  ['mysql', '8.0.15', 'show master status'],
  ['mysql', '8.0.44-35', 'show master status'],
  ['mysql', '8.1.0', 'show master status'],
  ['mysql', '8.2.0', 'show binary log status'],
  ['mysql', '8.4.7', 'show binary log status'],
  ['mysql', '9.7.4', 'show binary log status'],
  ['mysql', '10.0.1', 'show binary log status'],
  ['mariadb', '10.6.4-MariaDB-log', 'show master status'],
  ['mariadb', '11.8.9-MariaDB', 'show master status'],
] as const)('the end of the log of %s %s: %s', (flavour, version, statement) => {
  expect(statusStatement({ flavour, version })).toBe(statement);
});
