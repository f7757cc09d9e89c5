import { requestSigner } from '../../shared/client/sign-request.ts';
import { schemalessClient } from '../../shared/client/client.ts';
import { isLocal } from '../support/deployed/options.ts';
import { DATASTORE, type Environment } from '../support/deployed/reach.ts';
import { accountBySdk } from './account-by-sdk.ts';
import { localAccount, type Account } from './account.ts';
import { FAILOVER, measureFailover } from './failover.ts';
import { LAGS, measureLags } from './lags.ts';
import type { FirstDayOptions } from './options.ts';
import type { Figure, Section } from './page.ts';
import { BURST, measureBurst, measureRoutes, ROUTES } from './routes.ts';

/** A share of the samples of a route: each of these takes several requests. */
const LAG_SHARE = 0.25;

interface AllMeasured {
  readonly sections: readonly Section[];
  /** Whether everything that could be found out is as it should be: something was measured, and no cell is lost. */
  readonly isWell: boolean;
}

/**
 * Measures one thing after the other. What cannot be measured is a section that says why.
 *
 * @param told of each section as it is there
 * @throws an Error where the account's environment is another one
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
  const ofAccount = (title: string, how: string, figures: (of: Account) => Promise<readonly Figure[]>) =>
    [title, async (): Promise<Section> => ({ title, how, figures: await figures(asked()) })] as const;
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
      section = { title, how: `Not measured: ${why}.`, figures: [] };
    }
    told(section);
    sections.push(section);
  }
  return { sections, isWell: measured > 0 && lost === 0 };
}

/** Undefined where it is not known which of an account's environments is meant. */
function accountOf({
  url,
  region,
  environment,
  data,
}: Pick<FirstDayOptions, 'url' | 'region' | 'environment' | 'data'>): Account | undefined {
  if (isLocal(new URL(url))) return localAccount(data);
  return environment === undefined ? undefined : accountBySdk(region, environment);
}
