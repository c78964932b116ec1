import type { Received } from '../../test/support/receiver.ts'
import type { Answer } from './client.ts'
import type { Task } from './yard.ts'

/** One line for each thing that happens, in columns: when, who, what, pallet, slot, and how it went. */
export function line(who: string, what: string, pallet: string, slot: string, outcome: string): string {
  const time = new Date().toTimeString().slice(0, 8)
  return `${time}  ${who.padEnd(10)}  ${what.padEnd(17)}  …${pallet.slice(-5)}  ${slot.padEnd(4)}  ${outcome}`
}

/** What a handheld did and was answered. */
export function scanLine(who: string, task: Task, answer: Answer, remark = ''): string {
  const warnings = (answer.body?.warnings ?? []).map(({ code }: { code: string }) => code)
  const refusal = answer.body?.error?.code
  const outcome = [
    remark,
    refusal && `refused: ${answer.status} ${refusal}`,
    warnings.length > 0 && `recorded with ${warnings.join(', ')}`,
  ]
  return line(who, task.type, task.pallet, task.slot.label, outcome.filter(Boolean).join('; ') || 'recorded')
}

/** What a receiver got, and whether it believes it. */
export function notificationLine(request: Received): string {
  const { type, data, timestamp } = request.event
  const afterMs = Date.now() - Date.parse(timestamp)
  const signature = request.signatureValid ? 'signature right' : 'SIGNATURE WRONG, refused'
  const text = (key: string) => String(data[key] ?? '')
  return line(
    'receiver',
    type,
    text('asset_barcode'),
    text('slot_code'),
    `${signature}, ${afterMs} ms after it was recorded`,
  )
}
