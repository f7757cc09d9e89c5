import type { RightsByKey } from '../iam/rights.ts';
import { serviceUrl } from '../login/aws-login.ts';

export interface Emulator {
  readonly url: string;
  /** Sets what functions may do; no effect on outside services. Throws an Error for unknown statements. */
  setRights(rights: RightsByKey): Promise<void>;
  close(): Promise<void>;
}

export type ServiceName = 'dynamodb' | 'sqs';

/** An emulator that can be stopped for a while. */
export interface Service extends Emulator {
  /** Ends it at once. Throws for a service that runs elsewhere. */
  kill(): Promise<void>;
  /** Serves again at the same address with the data on disk. */
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
