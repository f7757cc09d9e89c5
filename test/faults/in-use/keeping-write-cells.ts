import { makeWriteHandler } from '../../../functions/write-cells.ts';
import { keepingDeployment } from './keeping-deployment.ts';

export const handler = makeWriteHandler(keepingDeployment);
