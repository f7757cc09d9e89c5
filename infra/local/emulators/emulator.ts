import type { RightsByKey } from '../iam/rights.ts';
import { serviceUrl } from '../login/service-url.ts';

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

/** Returns a service that runs elsewhere (see `serviceUrl`); undefined where this machine runs it. */
export function elsewhere(variable: `AWS_ENDPOINT_URL_${string}`): Service | undefined {
  const url = serviceUrl(variable);
  if (url === undefined) return undefined;
  const refuse = async (): Promise<never> => {
    throw new Error(`${variable} says that this service runs elsewhere: it is not the local stack's to end`);
  };
  return { url, setRights: async () => {}, close: async () => {}, kill: refuse, resume: refuse };
}
