import type { Context } from 'hono'
import { AppError } from '../../errors/index.ts'
import { type Api, type AppEnv, readBodyInTime } from '../../http/index.ts'
import { largestWitnessBytes } from './add-checkpoint.ts'
import type { Witness } from './being.ts'

/**
 * Serves c2sp.org/tlog-witness under /witness, for anyone: the protocol has no sign-in, and the signature on the checkpoint
 * identifies the log. Answers 404 while this gateway is no witness.
 */
export function witnessRoutes(
  api: Api,
  { witness, admit }: { readonly witness: Witness; readonly admit: (c: Context<AppEnv>) => void },
): void {
  const demandWitness = () => {
    if (!witness.isEnabled) throw AppError.notFound('Page')
  }
  api.post('/witness/add-checkpoint', async (c) => {
    demandWitness()
    admit(c)
    const bytes = await readBodyInTime(c.req.raw, largestWitnessBytes)
    const { status, type, body } = await witness.addCheckpoint(Buffer.from(bytes).toString('utf8'))
    return c.body(body, status, { 'Content-Type': type })
  })
  api.get('/witness/logs', (c) => {
    demandWitness()
    admit(c)
    return c.text(witness.list())
  })
}
