import type { ForgottenSubject, SubjectOperations } from '../../../../shared/api/subjects.ts';
import { apiPath, unlessDenied } from '../api.ts';
import { html } from '../html.ts';
import { useLive } from '../live.ts';
import { Badge, CliLine, Freshness, NotForYou, Time } from '../parts.ts';
import { useCli, usePage } from '../session.ts';
import { column, times, table } from '../table.ts';
import { countText, visible } from '../text.ts';
import { collected, pagesOf } from './pages-of.ts';

type ForgottenPage = Awaited<ReturnType<SubjectOperations['listForgotten']>>;

const MOST = 2000;
/** Each look may read the table of keys from end to end. */
const EVERY_MS = 60_000;

/** Subjects whose keys are gone, so that what was sealed for them is unreadable everywhere. */
export function Forgotten() {
  const { datastore } = usePage();
  const cli = useCli('forgotten');
  const live = useLive<{ readonly subjects: readonly ForgottenSubject[] | undefined }>(
    async (ask) => {
      const pages = pagesOf<ForgottenPage>((after) =>
        ask(apiPath(datastore, ['erasures', 'subjects'], { limit: 1000, after })),
      );
      return { subjects: await unlessDenied(collected(pages, (page) => page.subjects, MOST)) };
    },
    datastore,
    EVERY_MS,
  );
  const subjects = live.data?.subjects;
  return html`<h2>Forgotten subjects</h2>
    <${Freshness} live=${live} />
    ${live.data && !subjects && html`<${NotForYou} policy="erasers" />`}
    ${subjects && subjectTable(subjects.toSorted((one, other) => (one.forgotten_at < other.forgotten_at ? 1 : -1)))}
    ${subjects && subjects.length >= MOST && html`<p class="quiet">Those are ${countText(subjects.length)} of them.</p>`}
    <${CliLine} line=${cli} />`;
}

function subjectTable(subjects: readonly ForgottenSubject[]) {
  return table<ForgottenSubject>({
    label: 'Forgotten subjects, the last one first',
    items: subjects,
    keyOf: (one) => one.subject_name,
    empty: 'Nobody was forgotten.',
    columns: [
      times('Forgotten', '24ch', (one) => one.forgotten_at),
      column('Its name in records', '32ch', (one) => html`<code>${one.subject_name}</code>`),
      column('Key', '14ch', (one) =>
        one.had_key
          ? html`<span title=${`Unreadable everywhere from ${one.unreadable_from}`}><${Badge} tone="good">gone<//></span>`
          : html`<span title="Nothing was ever sealed for it, or it was misspelt"><${Badge} tone="warn">never there<//></span>`,
      ),
      column('Key in backups until', '24ch', (one) =>
        one.key_in_backups_until === null ? 'in none' : html`<${Time} at=${one.key_in_backups_until} />`,
      ),
      column('By', '24ch', (one) => visible(one.requested_by), { gives: true }),
      column('Reason', '40ch', (one) => visible(one.reason), { gives: true }),
    ],
  });
}
