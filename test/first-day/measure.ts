import { requestSigner } from '../../shared/client/sign-request.ts';
import { schemalessClient } from '../../shared/client/client.ts';
import { isLocal } from '../support/deployed/options.ts';
import { DATASTORE, type Environment } from '../support/deployed/reach.ts';
import { accountBySdk } from './account-by-sdk.ts';
import { localAccount, type Account } from './account.ts';
import { FAILOVER, measureFailover } from './failover.ts';
import { LAGS, measureLags } from './lags.ts';
import type { FirstDayOptions } from './options.ts';
import type { Result, Section } from './page.ts';
import { BURST, measureBurst, measureRoutes, ROUTES } from './routes.ts';

/** A share of the samples of a route: each of these takes several requests. */
const LAG_SHARE = 0.25;

interface AllMeasured {
  readonly sections: readonly Section[];
  /** Whether everything that could be found out is as it should be: something was measured, and no cell is lost. */
  readonly isWell: boolean;
}

/**
 * Measures one thing after the other. A failed measurement becomes a section with the reason.
 *
 * @param told receives each section as it is done
 * @throws an Error if the account's environment is another one
 */
export async function measureAll(
  { samples, failover, environment, data }: FirstDayOptions,
  { url, region, readers }: Environment,
  told: (section: Section) => void,
): Promise<AllMeasured> {
  const opened = { url, datastore: DATASTORE, sign: requestSigner(region) };
  const client = schemalessClient(opened);
  const account = accountOf({ url, region, environment, data });
  await account?.check(url);
  const since = new Date();
  let lost = 0;
  const asked = (): Account => {
    if (account === undefined) throw new Error('--environment NAME asks for it');
    return account;
  };
  const ofAccount = (title: string, how: string, results: (of: Account) => Promise<readonly Result[]>) =>
    [title, async (): Promise<Section> => ({ title, how, results: await results(asked()) })] as const;
  const parts: readonly (readonly [string, () => Promise<Section>])[] = [
    [BURST, () => measureBurst(schemalessClient({ ...opened, joinReads: false }))],
    [ROUTES, () => measureRoutes(client, samples, readers)],
    [LAGS, () => measureLags(client, Math.ceil(samples * LAG_SHARE), readers)],
    [
      FAILOVER,
      async () => {
        if (failover === undefined) throw new Error('--failover GROUP asks for it');
        const failOver = await asked().failOverOf(failover);
        const once = schemalessClient({ ...opened, attempts: 1 });
        const measured = await measureFailover({ once, patient: client, failOver });
        ({ lost } = measured);
        return measured;
      },
    ],
    ofAccount(
      'Cold starts',
      'Of all functions while this was measured: how many, the median and the longest initialization, as Lambda reports them.',
      (of) => of.coldStarts(since),
    ),
    ofAccount('Pinned connections', 'Of each RDS Proxy while this was measured.', (of) => of.pinned(since)),
    ofAccount(
      'The bill',
      'Of the last whole day, by service, as Cost Explorer has it, of what carries the tag schemaless:version: of all environments of the account, without what has no tags.',
      (of) => of.bill(),
    ),
  ];
  const sections: Section[] = [];
  let measured = 0;
  for (const [title, measure] of parts) {
    let section: Section;
    try {
      section = await measure();
      measured += 1;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      section = { title, how: `Not measured: ${why}.`, results: [] };
    }
    told(section);
    sections.push(section);
  }
  return { sections, isWell: measured > 0 && lost === 0 };
}

/** Undefined if the account's environment is not specified. */
function accountOf({
  url,
  region,
  environment,
  data,
}: Pick<FirstDayOptions, 'url' | 'region' | 'environment' | 'data'>): Account | undefined {
  if (isLocal(new URL(url))) return localAccount(data);
  return environment === undefined ? undefined : accountBySdk(region, environment);
}
