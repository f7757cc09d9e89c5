import { randomInt } from 'node:crypto';
import { otherName } from '../../shared/topology/database-users.ts';
import type { SecretLogin, SecretVersions } from './secret-versions.ts';

/** As Secrets Manager calls the steps of a rotation; each may come again, and goes on where it was left. */
export const ROTATION_STEPS = ['createSecret', 'setSecret', 'testSecret', 'finishSecret'] as const;
type RotationStep = (typeof ROTATION_STEPS)[number];

/** Where the login of a secret holds. */
export interface LoginPlace {
  /** Has the server take the password of this name. May be repeated. */
  set(login: SecretLogin): Promise<void>;
  /** Resolves once what was set holds; rejects where it does not in time. */
  untilSet(): Promise<void>;
  /** Logs in by the version of the secret that holds. */
  logIn(): Promise<void>;
}

/** All places of a secret. */
export interface RotatedLogin {
  /**
   * `alternating`: the next password is for the other name of a user, so that who knows the last one still logs in with
   * it, until the next but one. `single`: there is one name, and the last password holds no more once the next one does.
   */
  readonly kind: 'alternating' | 'single';
  readonly places: readonly LoginPlace[];
}

/**
 * One step of giving a secret its next password.
 *
 * - `createSecret`: a version with a password that nobody knows yet
 * - `setSecret`: the servers take it
 * - `testSecret`: it is not on its way any more
 * - `finishSecret`: it is the one that holds. Where it does not on all servers, the version before is put back, if that
 *   one still holds.
 *
 * @param version of the secret, the next one
 * @throws whatever keeps a step from being done: nobody's login is changed by it, and the step may be repeated
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

/** 238 bits. Letters and digits, as the statements take it that make users. */
function newPassword(): string {
  return Array.from({ length: CHARACTERS }, () => LETTERS_AND_DIGITS.charAt(randomInt(LETTERS_AND_DIGITS.length))).join(
    '',
  );
}
