/** A service of AWS on this machine, or wherever the environment says that it is. */
export interface Emulator {
  readonly url: string;
  close(): Promise<void>;
}

/** An emulator that can be away for a while. */
export interface Service extends Emulator {
  /** Ends it at once, with whatever it was asked; nobody answers at its address. Throws where it runs elsewhere. */
  kill(): Promise<void>;
  /** Serves again, at the same address, with the data it has on disk. */
  resume(): Promise<void>;
}

/** The SDK's own variable for a service: whoever sets it runs the service elsewhere, for instance LocalStack. */
export function elsewhere(variable: `AWS_ENDPOINT_URL_${string}`): Service | undefined {
  const url = process.env[variable];
  const refuse = async (): Promise<never> => {
    throw new Error(`${variable} says that this service runs elsewhere: it is not the local stack's to end`);
  };
  return url === undefined || url === '' ? undefined : { url: url.replace(/\/$/u, ''), close: async () => {}, kill: refuse, resume: refuse };
}
