import { describe, expect, test } from 'vitest';
import { checkToken, refusalOf, type AccessRules, type Caller } from '../src/guard/access.js';

const TOKEN = 'correct-horse';
const open: AccessRules = { loopback: true, token: null, readOnly: false };
const closed: AccessRules = { loopback: false, token: TOKEN, readOnly: false };

const reading: Caller = {
  ...{ method: 'GET', target: 'localhost:9464', host: 'localhost:9464' },
  ...{ origin: null, site: null, authorization: null, contentType: null },
};
const changing: Caller = { ...reading, method: 'POST', contentType: 'application/json' };
const withToken = { host: 'ops.example:9464', authorization: `Bearer ${TOKEN}` };

describe('a request is let in', () => {
  test.each([
    ['reading on this machine', reading, open],
    ['by the address', { ...reading, host: '127.0.0.1:9464' }, open],
    ['by the address of IPv6', { ...reading, host: '[::1]:9464' }, open],
    ['changing, without a browser', changing, open],
    ['changing, from the console itself', { ...changing, origin: 'http://localhost:9464' }, open],
    ['reading, from the console itself', { ...reading, site: 'same-origin' }, open],
    ['reading, by whoever has typed the address', { ...reading, site: 'none' }, open],
    [
      'changing, from the console behind a proxy that has changed the host',
      { ...changing, ...withToken, origin: 'https://ops.example', host: 'inside:9464', site: 'same-origin' },
      closed,
    ],
    ['from elsewhere, with the token', { ...changing, ...withToken }, closed],
    ['reading where nothing can be changed', reading, { ...open, readOnly: true }],
    ['JSON with a character set', { ...changing, contentType: 'application/json; charset=utf-8' }, open],
  ] as const)('%s', (_, caller, rules) => {
    expect(refusalOf(caller, rules)).toBeNull();
  });
});

describe('a request is refused', () => {
  test.each([
    ['a name that was made to lead here', { ...reading, host: 'evil.example:9464' }, open, 'ADMIN_HOST'],
    ['a name that only begins well', { ...reading, host: 'localhost.evil.example' }, open, 'ADMIN_HOST'],
    ['a name that leads here', { ...reading, host: '127.0.0.1.nip.io' }, open, 'ADMIN_HOST'],
    ['a name with a user', { ...reading, host: 'localhost@evil.example' }, open, 'ADMIN_HOST'],
    ['the address of IPv4 within IPv6', { ...reading, host: '[::ffff:127.0.0.1]' }, open, 'ADMIN_HOST'],
    ['another host in the request line', { ...reading, target: 'evil.example' }, open, 'ADMIN_HOST'],
    ['a look by another site', { ...reading, site: 'cross-site' }, open, 'ADMIN_ORIGIN'],
    ['a look by another port of this machine', { ...reading, site: 'same-site' }, open, 'ADMIN_ORIGIN'],
    [
      'a look by a page that says where it is from',
      { ...reading, origin: 'https://evil.example' },
      open,
      'ADMIN_ORIGIN',
    ],
    ['a change that no page has announced', { ...changing, site: 'cross-site' }, open, 'ADMIN_ORIGIN'],
    [
      'a token within another one',
      { ...reading, authorization: `Bearer ${TOKEN} ${TOKEN}` },
      closed,
      'ADMIN_TOKEN',
    ],
    ['no host', { ...reading, host: null }, open, 'ADMIN_HOST'],
    ['no token', { ...reading, host: 'ops.example' }, closed, 'ADMIN_TOKEN'],
    ['a wrong token', { ...reading, authorization: 'Bearer correct-horsf' }, closed, 'ADMIN_TOKEN'],
    ['a longer token', { ...reading, authorization: `Bearer ${TOKEN}x` }, closed, 'ADMIN_TOKEN'],
    ['another scheme', { ...reading, authorization: `Basic ${TOKEN}` }, closed, 'ADMIN_TOKEN'],
    ['a token on this machine, too', reading, { ...closed, loopback: true }, 'ADMIN_TOKEN'],
    ['a form of another site', { ...changing, origin: 'https://evil.example' }, open, 'ADMIN_ORIGIN'],
    ['a page without an origin of its own', { ...changing, origin: 'null' }, open, 'ADMIN_ORIGIN'],
    ['another port of this machine', { ...changing, origin: 'http://localhost:3000' }, open, 'ADMIN_ORIGIN'],
    ['a change where none can be made', changing, { ...open, readOnly: true }, 'ADMIN_READ_ONLY'],
    ['a form', { ...changing, contentType: 'application/x-www-form-urlencoded' }, open, 'ADMIN_CONTENT_TYPE'],
    ['text that looks like JSON', { ...changing, contentType: 'text/plain' }, open, 'ADMIN_CONTENT_TYPE'],
    ['no type', { ...changing, contentType: null }, open, 'ADMIN_CONTENT_TYPE'],
  ] as const)('%s', (_, caller, rules, code) => {
    expect(refusalOf(caller, rules)?.code).toBe(code);
  });
});

describe('a token', () => {
  test.each(['', 'two words', 'line\n', 'schlüssel', '\u0000'])('%j is none that could be sent', (token) => {
    expect(() => {
      checkToken(token);
    }).toThrow(expect.objectContaining({ code: 'ADMIN_CONFIG' }));
  });

  test('takes any sign of ASCII', () => {
    const token = 'a+/=~!"#$%&\'()*,-.:;<>?@[]^_`{|}';
    checkToken(token);
    const caller = { ...reading, authorization: `bearer ${token}` };
    expect(refusalOf(caller, { ...closed, token })).toBeNull();
  });
});
