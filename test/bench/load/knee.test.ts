import { expect, it } from 'vitest';
import { kneeOf, type AtRate } from './knee.ts';

/** @param answered the share of the offered requests */
const at = (offered: number, p99: number, answered = 1): AtRate => ({
  share: offered / 1000,
  offered,
  achieved: offered * answered,
  p50: 1,
  p99,
  p999: p99,
  requests: offered,
  failed: 0,
});

it('is the highest rate whose p99 is no more than ten times that of the lowest', () => {
  expect(kneeOf([at(100, 2), at(500, 20), at(850, 20.1)])?.offered).toBe(500);
  expect(kneeOf([at(850, 19), at(100, 2), at(500, 3)])?.offered).toBe(850);
});

it('is a rate of which at least 95 % was answered', () => {
  expect(kneeOf([at(100, 2), at(500, 3, 0.95), at(850, 3, 0.949)])?.offered).toBe(500);
});

it('is above a rate that other load on the machine disturbed', () => {
  expect(kneeOf([at(100, 2), at(250, 90), at(500, 3)])?.offered).toBe(500);
});

it('is the lowest rate if only that is borne, and undefined if not even that is', () => {
  expect(kneeOf([at(100, 2), at(500, 90)])?.offered).toBe(100);
  expect(kneeOf([at(100, 2, 0.9), at(500, 3)])).toBeUndefined();
  expect(kneeOf([at(100, Number.POSITIVE_INFINITY), at(500, Number.POSITIVE_INFINITY)])).toBeUndefined();
  expect(kneeOf([])).toBeUndefined();
});

it('is a rate whose requests had set off their work, except for half a second of them', () => {
  expect(kneeOf([at(100, 2), { ...at(500, 3), behind: 250 }, { ...at(850, 3), behind: 426 }])?.offered).toBe(500);
});
