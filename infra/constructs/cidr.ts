import { describe } from '../../shared/errors.ts';

export const DEFAULT_CIDR = '10.0.0.0/16';

const PRIVATE_RANGES = [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const;
const LARGEST = 16;
const SMALLEST = 20;
/** A subnet is a sixteenth of its network, so that more zones or layers move none. */
const BITS_OF_SUBNETS = 4;

/** Returns the prefix length of subnets in the range. Throws an Error that names cidr. */
export function subnetMask(cidr: string): number {
  const [, address = '', size = ''] = /^(\d{1,3}(?:\.\d{1,3}){3})\/(\d{1,2})$/u.exec(cidr) ?? [];
  const mask = Number(size);
  const first = numberOf(address);
  const isPrivate = PRIVATE_RANGES.some(([start, bits]) => first !== undefined && isWithin(first, start, bits));
  if (first === undefined || !isPrivate || mask < LARGEST || mask > SMALLEST || first % 2 ** (32 - mask) !== 0)
    throw new Error(
      `cidr: wanted a private range of /${LARGEST} to /${SMALLEST} by its first address, such as ${DEFAULT_CIDR}, got ${describe(cidr)}`,
    );
  return mask + BITS_OF_SUBNETS;
}

function isWithin(address: number, start: string, bits: number): boolean {
  const size = 2 ** (32 - bits);
  return Math.floor(address / size) * size === numberOf(start);
}

function numberOf(address: string): number | undefined {
  const bytes = address.split('.').map(Number);
  if (bytes.length !== 4 || bytes.some((byte) => byte > 255)) return undefined;
  return bytes.reduce((sum, byte) => sum * 256 + byte, 0);
}
