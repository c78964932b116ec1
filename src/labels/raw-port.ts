import type { Socket } from 'node:net'
import { answerBounds, type Clock, dial } from '../platform/index.ts'
import type { PrintOutcome } from './print-state.ts'

/** A printer that ends the connection within this time after taking the data has thrown it away. */
const settleMs = 250

type Phase = 'connecting' | 'writing' | 'settling' | 'closing'

export type Sending = {
  readonly host: string
  readonly port: number
  readonly bytes: Uint8Array
  readonly timeoutMs: number
  readonly clock: Pick<Clock, 'after'>
  /** Cuts the connection; the attempt counts as failed. */
  readonly signal: AbortSignal
}

/**
 * Sends bytes to a raw port (9100) and resolves with the result. The protocol has no answer: a printer that takes everything
 * and closes after our end has printed. Each phase takes at most `timeoutMs`. Never rejects.
 */
export function sendRaw({ host, port, bytes, timeoutMs, clock, signal }: Sending): Promise<PrintOutcome> {
  return new Promise((resolve) => {
    let phase: Phase = 'connecting'
    let cancel = () => {}
    const socket: Socket = dial({ host, port, noDelay: true }, answerBounds.printer.bytes)
    const end = (outcome: PrintOutcome) => {
      cancel()
      signal.removeEventListener('abort', abort)
      socket.destroy()
      resolve(outcome)
    }
    const abort = () => end({ kind: 'failed', error: 'the gateway is stopping' })
    const enter = (next: Phase, ms: number, late: () => void) => {
      phase = next
      cancel()
      cancel = clock.after(ms, late)
    }
    const lost = (why: string) =>
      end(phase === 'closing' ? { kind: 'unconfirmed', error: why } : { kind: 'failed', error: why })
    const settle = () => {
      enter('closing', timeoutMs, () => lost('took the label, but did not end the connection'))
      socket.end()
    }
    socket.on('error', (error: NodeJS.ErrnoException) => lost(faultOf(error, phase)))
    socket.on('close', () =>
      phase === 'closing' ? end({ kind: 'printed' }) : lost('ended the connection before it had the label'),
    )
    socket.on('connect', () => {
      enter('writing', timeoutMs, () => lost('does not take the label'))
      socket.write(bytes, (error) => {
        if (!error && phase === 'writing') enter('settling', settleMs, settle)
      })
    })
    socket.resume() // whatever it says
    signal.addEventListener('abort', abort)
    enter('connecting', timeoutMs, () => lost('does not answer'))
    if (signal.aborted) abort()
  })
}

function faultOf(error: NodeJS.ErrnoException, phase: Phase): string {
  switch (error.code) {
    case 'ECONNREFUSED':
      return 'refuses the connection'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its name cannot be resolved'
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return 'cannot be reached'
    default:
      return phase === 'connecting' ? 'cannot be reached' : 'broke the connection'
  }
}
