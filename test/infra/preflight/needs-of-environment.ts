import type { EnvironmentName } from '../../../infra/environments.ts';
import type { Needs } from '../../../infra/preflight/needs.ts';
import { needsOf } from '../../../infra/preflight/synthesized-needs.ts';
import { STAND_INS } from '../support/synthesized.ts';

const known = new Map<EnvironmentName, Needs>();

/** Synthesizes the needs of an environment once for all test files of a worker. */
export function needsOfEnvironment(environment: EnvironmentName): Needs {
  const needs = known.get(environment) ?? needsOf({ environment, functions: STAND_INS });
  known.set(environment, needs);
  return needs;
}
