/** A service of AWS on this machine, or wherever the environment says that it is. */
export interface Emulator {
  readonly url: string;
  close(): Promise<void>;
}

/** The SDK's own variable for a service: whoever sets it runs the service elsewhere, for instance LocalStack. */
export function elsewhere(variable: `AWS_ENDPOINT_URL_${string}`): Emulator | undefined {
  const url = process.env[variable];
  return url === undefined || url === '' ? undefined : { url: url.replace(/\/$/u, ''), close: async () => {} };
}
