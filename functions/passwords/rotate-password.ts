import { randomInt } from 'node:crypto';
import { otherName } from '../../shared/topology/database-users.ts';
import type { SecretLogin, SecretVersions } from './secret-versions.ts';

/** The steps of a rotation in Secrets Manager; each may be repeated. */
export const ROTATION_STEPS = ['createSecret', 'setSecret', 'testSecret', 'finishSecret'] as const;
type RotationStep = (typeof ROTATION_STEPS)[number];

/** A place where a secret's login is valid. */
export interface LoginPlace {
  /** Sets the password of this name. May be repeated. */
  set(login: SecretLogin): Promise<void>;
  /** Resolves once the password is valid; rejects after a time. */
  untilSet(): Promise<void>;
  /** Logs in with the secret's current version. */
  logIn(): Promise<void>;
}

export interface RotatedLogin {
  /** `alternating`: the other name gets the next password, the last stays valid. `single`: the last ends. */
  readonly kind: 'alternating' | 'single';
  readonly places: readonly LoginPlace[];
}

/**
 * Runs one step of a rotation.
 *
 * - `createSecret`: makes a version with a new password
 * - `setSecret`: sets it on the servers
 * - `testSecret`: waits until it is valid
 * - `finishSecret`: makes it current, and reverts if a server rejects it
 *
 * Throws whatever stops a step: no login changes, and the step may be repeated.
 */
export async function rotatePassword(
  step: RotationStep,
  secret: SecretVersions,
  version: string,
  { kind, places }: RotatedLogin,
): Promise<void> {
  if (step === 'createSecret') {
    if (await secret.pending(version)) return;
    const current = await secret.current();
    const username = kind === 'alternating' ? otherName(current.username) : current.username;
    await secret.addPending(version, { ...current, username, password: newPassword() });
    return;
  }
  const next = await secret.pending(version);
  if (!next) throw new Error(`${secret.secret}: wanted a version ${version} with a password, got none`);
  if (step === 'setSecret') {
    await Promise.all(places.map((place) => place.set(next)));
  } else if (step === 'testSecret') {
    await Promise.all(places.map((place) => place.untilSet()));
  } else {
    const before = await secret.promote(version);
    try {
      await Promise.all(places.map((place) => place.logIn()));
    } catch (error) {
      if (kind === 'alternating' && before !== undefined) await secret.promote(before);
      throw error;
    }
  }
}

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const CHARACTERS = 40;

/** 238 bits; the statement that makes users takes letters and digits. */
function newPassword(): string {
  return Array.from({ length: CHARACTERS }, () => LETTERS_AND_DIGITS.charAt(randomInt(LETTERS_AND_DIGITS.length))).join(
    '',
  );
}
