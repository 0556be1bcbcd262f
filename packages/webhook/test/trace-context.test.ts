import { expect, it } from 'vitest';
import { traceContext } from '../src/trace-context.js';

const trace = '0af7651916cd43dd8448eb211c80319c';
const parent = 'b7ad6b7169203331';
const valid = `00-${trace}-${parent}-01`;

it.each([
  [valid],
  [`00-${trace}-${parent}-00`],
  [`01-${trace}-${parent}-01`],
  [`cc-${trace}-${parent}-01-what-comes-later`],
])('is passed on: %s', (traceparent) => {
  expect(traceContext({ traceparent })).toEqual({ traceparent });
});

it.each([
  [undefined],
  [1],
  [''],
  [`ff-${trace}-${parent}-01`],
  [`00-${trace}-${parent}-01-more`],
  [`00-${'0'.repeat(32)}-${parent}-01`],
  [`00-${trace}-${'0'.repeat(16)}-01`],
  [`00-${trace.toUpperCase()}-${parent}-01`],
  [`00-${trace}-${parent}-1`],
  [`${valid}\r\nx: y`],
  [`01-${trace}-${parent}-01-\r\nx: y`],
])('is not passed on: %j', (traceparent) => {
  expect(traceContext({ traceparent, tracestate: 'a=1' })).toEqual({});
});

it.each([
  ['a=1,b=2', true],
  ['', false],
  ['a=1\nb', false],
  ['a=ü', false],
  [`a=${'1'.repeat(511)}`, false],
  [1, false],
])('a trace state %j goes along: %s', (tracestate, passed) => {
  const headers = passed ? { traceparent: valid, tracestate } : { traceparent: valid };
  expect(traceContext({ traceparent: valid, tracestate })).toEqual(headers);
});
