import type { TripFacts } from './facts.ts';
import { Random } from '../random.ts';

/** What a trip cost, in dollars and cents. */
interface Fare {
  readonly base_passenger_fare: number;
  readonly tolls: number;
  readonly bcf: number;
  readonly sales_tax: number;
  readonly congestion_surcharge: number;
  readonly airport_fee: number;
  readonly cbd_congestion_fee: number;
  readonly tips: number;
  readonly driver_pay: number;
  readonly lines: readonly { readonly name: string; readonly amount: number }[];
  readonly total: number;
}

/** The fare of a trip and how it came about. Every amount of a refund is negative. */
export function tripFare(seed: string, facts: TripFacts): Fare {
  const random = new Random(seed, 'fare', facts.n);
  const surge = random.chance(0.15) ? random.pick([1.2, 1.5, 1.8, 2.1]) : 1;
  const distance = cents(facts.miles * 1.62 * surge);
  const time = cents((facts.seconds / 60) * 0.48 * surge);
  const booking = 2.75;
  const passenger = Math.max(7, cents(2.55 + distance + time + booking));
  const manhattan = facts.pickUp.borough === 'Manhattan' || facts.dropOff.borough === 'Manhattan';
  const amounts = {
    base_passenger_fare: passenger,
    tolls: random.chance(0.1) ? random.pick([2.45, 6.94, 13.38]) : 0,
    bcf: cents(passenger * 0.0275),
    sales_tax: cents(passenger * 0.08875),
    congestion_surcharge: manhattan ? 2.75 : 0,
    airport_fee: facts.pickUp.airport || facts.dropOff.airport ? 2.5 : 0,
    cbd_congestion_fee: manhattan && random.chance(0.7) ? 1.5 : 0,
    tips: random.chance(0.2) ? tip(random, passenger) : 0,
    driver_pay: cents(passenger * random.between(0.68, 0.82)),
  };
  const { driver_pay: _driverPay, base_passenger_fare: _base, ...charges } = amounts;
  const lines = [
    { name: 'start', amount: 2.55 },
    { name: 'distance', amount: distance },
    { name: 'time', amount: time },
    { name: 'booking', amount: booking },
    { name: 'to the minimum', amount: cents(passenger - 2.55 - distance - time - booking) },
    ...Object.entries(charges).map(([name, amount]) => ({ name, amount })),
  ].filter((line) => line.amount !== 0);
  const fare = { ...amounts, lines, total: cents(lines.reduce((sum, line) => sum + line.amount, 0)) };
  return facts.blemish === 'negative fare' ? negative(fare) : fare;
}

/** One in three tips is a button of the app (20, 25 or 30 %), the others are round sums. */
function tip(random: Random, passenger: number): number {
  return random.chance(0.35) ? cents(passenger * random.pick([0.2, 0.25, 0.3])) : random.integer(1, 8);
}

function negative(fare: Fare): Fare {
  const amounts = Object.entries(fare).map(([name, amount]) => [
    name,
    typeof amount === 'number' ? 0 - amount : amount,
  ]);
  return {
    ...fare,
    ...Object.fromEntries(amounts),
    lines: fare.lines.map(({ name, amount }) => ({ name, amount: 0 - amount })),
  };
}

/** Rounded to whole cents; adding 0 turns -0, which JSON does not know, into 0. */
export function cents(dollars: number): number {
  return Math.round(dollars * 100) / 100 + 0;
}
