import { expect, test } from 'vitest';
import { scramVerifier } from '../src/postgres/scram.js';

test('a verifier is what RFC 7677 computes in its example', () => {
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
  expect(scramVerifier('pencil', salt)).toBe(
    'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
  );
});

test('has a salt of its own each time', () => {
  expect(scramVerifier('pencil')).not.toBe(scramVerifier('pencil'));
});
