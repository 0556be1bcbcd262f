/** Which keys a log has. */
export interface KeyChoice {
  readonly keys: number;
  /**
   * Default: all have about as many rows. `zipf`: the n-th key has a share of 1/n, so that of 5,000 the first has a ninth.
   * `own`: each row has a key of its own, as long as there are any.
   */
  readonly skew?: 'zipf' | 'own';
}

const RANGE = 2 ** 32;

/** The key of each row, by the row's number: in no particular order, and the same in every run and on every machine. */
export function keyChooser({ keys, skew }: KeyChoice): (row: number) => number {
  switch (skew ?? 'none') {
    case 'none':
      return (row) => scrambled(row) % keys;
    case 'own':
      return (row) => (row - 1) % keys;
    case 'zipf': {
      const shares = cumulatedShares(keys);
      return (row) => firstAbove(shares, scrambled(row) / RANGE);
    }
  }
}

/** The finaliser of MurmurHash3, by Austin Appleby, who put it into the public domain: 32 bits in, 32 unlike bits out. */
function scrambled(row: number): number {
  let bits = row;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** By key, the share that it and those before it have. */
function cumulatedShares(keys: number): Float64Array {
  const shares = new Float64Array(keys);
  let sum = 0;
  for (let key = 0; key < keys; key += 1) shares[key] = sum += 1 / (key + 1);
  return shares.map((share) => share / sum);
}

function firstAbove(ascending: Float64Array, value: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 1) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
