import { describe, expect, test } from 'vitest';
import { parseAddress, urlOf } from '../src/address.js';

describe('an address', () => {
  test.each([
    ['9464', { host: '127.0.0.1', port: 9464 }, 'http://127.0.0.1:9464'],
    [':9464', { host: '0.0.0.0', port: 9464 }, 'http://0.0.0.0:9464'],
    ['0.0.0.0:80', { host: '0.0.0.0', port: 80 }, 'http://0.0.0.0:80'],
    ['localhost:0', { host: 'localhost', port: 0 }, 'http://localhost:0'],
    ['[::1]:9464', { host: '::1', port: 9464 }, 'http://[::1]:9464'],
  ])('%s', (text, address, url) => {
    expect(parseAddress(text)).toEqual(address);
    expect(urlOf(address)).toBe(url);
  });

  test.each(['', 'localhost', 'http://localhost:1', '::1:9464', '1.2.3.4:65536', '9464 ', '-1'])(
    '%j is none',
    (text) => {
      expect(() => parseAddress(text)).toThrow(/ADMIN_CONFIG|is no address/);
    },
  );
});
