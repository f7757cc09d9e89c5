import { Logger } from '@aws-lambda-powertools/logger';

/**
 * The structured log of all functions. A request's id is passed with each line, not kept in the logger, since an
 * instance may answer several requests at a time. Bodies of cells and whole events are never logged.
 */
export const logger = new Logger({ serviceName: 'schemaless' });
