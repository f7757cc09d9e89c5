import { LIMITS } from '../cell.ts';
import { INDEX_NAME } from '../definitions/definitions.ts';
import { invalidField } from '../errors.ts';
import type { CountQuery, IndexAnswer, IndexCounted, Query } from '../contract/index-query.ts';
import type { IndexOperations } from '../api/indexes.ts';
import { toIndexAnswer } from './answers.ts';
import { answerTo, type Connection } from './calls.ts';
import { toParameters, pathName } from './conditions.ts';

export interface IndexCalls extends IndexOperations {
  /** Finds rows by fields of their latest cells. Throws `invalid_field` for what is no condition. */
  query(query: Query): Promise<IndexAnswer>;
  /** Counts the rows that `query` would find, up to a limit. */
  count(query: CountQuery): Promise<IndexCounted>;
}

/** The indexes of a datastore, over HTTP. Values travel as text, read as their fields' types. */
export function indexCalls(send: Connection): IndexCalls {
  return {
    async query({ index, where, fields, columns, order, limit = LIMITS.defaultLimit, after, read, explain }) {
      if (columns !== '*' && columns?.includes('*') === true)
        throw invalidField('column', 'names of columns, or "*" instead of a list', '*');
      // The limit is always sent: a request without any parameter returns the status.
      const query = {
        ...toParameters(where),
        fields: fields?.join(','),
        column: columns,
        order,
        limit,
        after,
        read,
        explain: explain === true ? 'true' : undefined,
      };
      const path = ['indexes', nameOf(index)];
      return toIndexAnswer(await send({ method: 'GET', path, joins: 'batch-query', query }));
    },
    async count({ index, where, limit, read }) {
      const query = { ...toParameters(where), limit, read };
      return answerTo(send, { method: 'GET', path: ['indexes', nameOf(index), 'count'], query });
    },
    listIndexes: () => answerTo(send, { method: 'GET', path: ['indexes'] }),
    getIndex: async (name) => answerTo(send, { method: 'GET', path: ['indexes', nameOf(name)] }),
  };
}

const nameOf = (index: string): string => pathName('index', INDEX_NAME, index);
