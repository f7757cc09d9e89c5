import { makeReadHandler } from '../../../functions/read-cells.ts';
import { keepingDeployment } from './keeping-deployment.ts';

export const handler = makeReadHandler(keepingDeployment);
