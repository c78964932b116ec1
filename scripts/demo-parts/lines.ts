import type { Received } from '../../test/support/receiver.ts'
import type { Answer } from './client.ts'
import type { Task } from './yard.ts'

/** One line for each thing that happens. Its columns: actor, action, pallet, slot and outcome. */
export function line(who: string, what: string, pallet: string, slot: string, outcome: string): string {
  return columns(who, what, `…${pallet.slice(-5)}`, slot, outcome)
}

function columns(who: string, what: string, about: string, slot: string, outcome: string): string {
  const time = new Date().toTimeString().slice(0, 8)
  return `${time}  ${who.padEnd(10)}  ${what.padEnd(17)}  ${about.padEnd(6)}  ${slot.padEnd(4)}  ${outcome}`
}

/** Line for a scan of a handheld and its answer. */
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

/** Line for a notification about a pallet, with the verdict on its signature. */
export function notificationLine(request: Received): string {
  const { type, data, timestamp } = request.event
  const afterMs = Date.now() - Date.parse(timestamp)
  const text = (key: string) => String(data[key] ?? '')
  const outcome = `${belief(request)}, ${afterMs} ms after it was recorded`
  return line('receiver', type, text('asset_barcode'), text('slot_code'), outcome)
}

/** Line for a notification about motion of a camera. */
export function motionLine(request: Received): string {
  const { type, data } = request.event
  const clip = data['clip'] ? 'a clip follows' : `no clip: ${data['reason']}`
  return columns('receiver', type, `cam ${data['cctvId']}`, '', `${belief(request)}, score ${data['score']}; ${clip}`)
}

/** The detection in `event.created`, as far as the demo shows it. */
export type DetectionFacts = {
  readonly cctvId: number
  readonly clipStatus: string
  readonly duration: number | null
  readonly preRollSeconds: number | null
  readonly clipUrls: { readonly playback: string | null }
}

/** Line for a notification about a recorded detection. @param sizeBytes size of its clip, when it is known */
export function detectionLine(request: Received, facts: DetectionFacts, sizeBytes: number | undefined): string {
  const { cctvId, clipStatus, duration, preRollSeconds } = facts
  const size = sizeBytes === undefined ? '' : `, ${Math.round(sizeBytes / 1000)} kB`
  const length = `${duration?.toFixed(1)} s (${preRollSeconds?.toFixed(1)} s before the motion)`
  const clip = clipStatus === 'recorded' ? `clip of ${length}${size}` : `no clip: ${clipStatus}`
  return columns('receiver', request.event.type, `cam ${cctvId}`, '', `${belief(request)}; ${clip}`)
}

function belief({ signatureValid }: Received): string {
  return signatureValid ? 'signature right' : 'SIGNATURE WRONG, refused'
}
