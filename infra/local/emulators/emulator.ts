import type { RightsByKey } from '../iam/rights.ts';

/** A service of AWS on this machine, or wherever the environment says that it is. */
export interface Emulator {
  readonly url: string;
  /**
   * What functions may do there, from when it resolves on; whoever else asks may do everything. Nothing is judged where it
   * runs elsewhere. @throws Error for a statement that cannot be judged
   */
  setRights(rights: RightsByKey): Promise<void>;
  close(): Promise<void>;
}

export type ServiceName = 'dynamodb' | 'sqs';

/** An emulator that can be away for a while. */
export interface Service extends Emulator {
  /** Ends it at once, with whatever it was asked; nobody answers at its address. Throws where it runs elsewhere. */
  kill(): Promise<void>;
  /** Serves again, at the same address, with the data it has on disk. */
  resume(): Promise<void>;
}

/**
 * The SDK's own variable for a service: whoever sets it runs the service elsewhere, for instance LocalStack.
 *
 * @throws Error that names the variable, when it has no URL
 */
export function elsewhere(variable: `AWS_ENDPOINT_URL_${string}`): Service | undefined {
  const url = process.env[variable];
  if (url === undefined || url === '') return undefined;
  if (!/^https?:\/\//u.test(url) || !URL.canParse(url))
    throw new Error(`${variable}: wanted a URL such as http://127.0.0.1:4566, got ${JSON.stringify(url)}`);
  const refuse = async (): Promise<never> => {
    throw new Error(`${variable} says that this service runs elsewhere: it is not the local stack's to end`);
  };
  return {
    url: url.replace(/\/$/u, ''),
    setRights: async () => {},
    close: async () => {},
    kill: refuse,
    resume: refuse,
  };
}
