import { html } from '../html.ts';
import { Copied } from '../parts.ts';
import { usePage } from '../session.ts';

/** What to ask MySQL for a look at a row by hand; a row key was checked, so that nothing of it is SQL. */
export function RowSql({ rowKey, shard }: { readonly rowKey: string; readonly shard?: number | undefined }) {
  const { datastore } = usePage();
  const key = `UNHEX(REPLACE('${rowKey}', '-', ''))`;
  const database = shard === undefined ? undefined : `${datastore}_${String(shard).padStart(4, '0')}`;
  const lines = [
    ...(database === undefined
      ? []
      : [
          `SELECT added_id, CAST(column_name AS CHAR) AS column_name, ref_key, LENGTH(body), created_at FROM ${database}.entity WHERE row_key = ${key} ORDER BY column_name, ref_key DESC;`,
          `SELECT * FROM schemaless.shard WHERE datastore = '${datastore}' AND shard = ${shard};`,
        ]),
    `SELECT id, CAST(column_name AS CHAR) AS column_name, ref_key, state, attempts, last_error FROM schemaless.buffer WHERE datastore = '${datastore}' AND row_key = ${key};`,
  ];
  return html`<details><summary>SQL, to look by hand</summary>
    <p class="quiet small">On the writer of its group; the last one on every other group, which may hold copies of its writes.</p>
    ${lines.map((line) => html`<p class="sql"><${Copied} text=${line} /></p>`)}
  </details>`;
}
