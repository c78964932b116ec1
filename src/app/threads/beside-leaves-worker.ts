/** The thread that checks what is stored beside the leaves while another one recomputes them. It does this once and ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { checkBesideLeaves } from '../../evidence/index.ts'

parentPort?.postMessage(checkBesideLeaves(workerData as string))
