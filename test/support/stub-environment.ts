import { vi } from 'vitest';

/** Stubs variables of the environment; `vi.unstubAllEnvs` ends it. */
export function stubEnvironment(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}
