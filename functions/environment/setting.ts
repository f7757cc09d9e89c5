/**
 * A setting of an example function: an environment variable of its own.
 *
 * @param fallback what holds when it is not set @default it has to be set: throws an Error that names it
 * @param variables @default the environment of this process
 */
export function setting(name: string, fallback?: string, variables: Readonly<Record<string, string | undefined>> = process.env): string {
  const value = variables[name] ?? '';
  if (value !== '') return value;
  if (fallback !== undefined) return fallback;
  throw new Error(`The environment variable ${name} is not set`);
}
