import { webcrypto } from 'node:crypto';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

/** A certificate and its key, in PEM. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY = 86_400_000;

interface Keys {
  readonly publicKey: webcrypto.CryptoKey;
  readonly privateKey: webcrypto.CryptoKey;
}

/** An authority of one test. */
export class TestAuthority {
  static async create(): Promise<TestAuthority> {
    const keys = await generateKeys();
    const own = await x509.X509CertificateGenerator.createSelfSigned({
      name: 'CN=Test authority',
      ...validFor(30),
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, 1, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      ],
    });
    return new TestAuthority(own, keys);
  }

  readonly #own: x509.X509Certificate;
  readonly #keys: Keys;

  private constructor(own: x509.X509Certificate, keys: Keys) {
    this.#own = own;
    this.#keys = keys;
  }

  get cert(): string {
    return this.#own.toString('pem');
  }

  /** @param days that it is good for */
  async issue(host: string, days = 30): Promise<TestCertificate> {
    const keys = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      subject: `CN=${host}`,
      issuer: this.#own.subject,
      ...validFor(days),
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }])],
    });
    const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
    return {
      cert: certificate.toString('pem'),
      key: x509.PemConverter.encode(key, 'PRIVATE KEY'),
    };
  }
}

function generateKeys(): Promise<Keys> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

function validFor(days: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(Date.now() - DAY), notAfter: new Date(Date.now() + days * DAY) };
}
