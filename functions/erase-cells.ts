import { ERASURES } from '../shared/api/erasures.ts';
import { SUBJECTS } from '../shared/api/subjects.ts';
import { KEY_VARIABLES } from '../shared/environment.ts';
import { erasureManagement, type ErasureManagement } from '../shared/erasures/erasure-management.ts';
import { subjectManagement, type SubjectManagement } from '../shared/sealed/subject-management.ts';
import { openStore } from './environment/deployment.ts';
import { keyStore } from './environment/root-key.ts';
import { audited } from './http/audited.ts';
import { answeredBy } from './http/answering.ts';
import { httpHandler, type HttpHandler } from './http/handler.ts';

type Forgetting = ErasureManagement & SubjectManagement;

/** Logs the caller of every valid request before the response, but never a subject. */
export function makeErasuresHandler(open: () => Forgetting): HttpHandler {
  const erasures = answeredBy(ERASURES, (over: Forgetting, datastore, { caller }) => over.erasures(datastore, caller));
  const subjects = answeredBy(SUBJECTS, (over: Forgetting, datastore, { caller }) => over.subjects(datastore, caller));
  return httpHandler(
    { ...ERASURES, ...SUBJECTS },
    {
      ...audited('erasure', erasures, { eraseCells: ['id', 'scope', 'shard', 'state', 'cells'] }),
      ...audited('forgetting', subjects, { forgetSubject: ['subject_name', 'forgotten_at'] }),
    },
    open,
  );
}

function open(): Forgetting {
  const { config, context, topologyTable, stateTable } = openStore(...KEY_VARIABLES, 'backupDays', 'keyDays');
  return {
    ...erasureManagement({ context, topologyTable, stateTable, backupDays: config.backupDays }),
    ...subjectManagement({ topology: context.topology, keys: keyStore(config), keyDays: config.keyDays }),
  };
}

export const handler = makeErasuresHandler(open);
