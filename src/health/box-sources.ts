import type { ApplianceImage, LastUpdate } from '../platform/index.ts'
import type { HeatTroubles } from './box.ts'
import type { Observation } from './troubles.ts'
import { durationWords } from './troubles.ts'

/** Says what is wrong with heat and power of the box. */
export function boxObservations({ celsius, hotForMs, throttledForMs, underVoltageForMs }: HeatTroubles): Observation[] {
  const degrees = celsius === undefined ? '' : ` (${Math.round(celsius)} °C)`
  const cool = 'Cool the box: a fan, another place, or fewer cameras. GET /api/metrics has its temperature.'
  const heat = ((): Observation['wrong'] => {
    if (throttledForMs !== null) {
      const message = `The processor has been slowed down for ${durationWords(throttledForMs)}${degrees}. Cameras may lose frames. ${cool}`
      return { kind: 'box.throttled', forMs: throttledForMs, message }
    }
    if (hotForMs === null) return null
    return {
      kind: 'box.hot',
      forMs: hotForMs,
      message: `The processor has been hot for ${durationWords(hotForMs)}${degrees}. ${cool}`,
    }
  })()
  const power =
    underVoltageForMs === null
      ? null
      : {
          kind: 'box.voltage' as const,
          forMs: underVoltageForMs,
          message: `The voltage of the box has been too low for ${durationWords(underVoltageForMs)}. Files can be damaged when it drops further. Use the power supply that its maker names, and a short cable.`,
        }
  return [
    { component: 'box', subject: 'box: heat', name: 'The processor', wrong: heat },
    { component: 'box', subject: 'box: power', name: 'The power supply of the box', wrong: power },
  ]
}

/** Says whether the system image of an appliance is kept up to date. Nothing is observed where there is none. */
export function imageObservations(image: ApplianceImage | undefined, nowMs: number): Observation[] {
  if (!image) return []
  return [{ component: 'box', subject: 'box: image', name: 'The system image', wrong: imageTrouble(image, nowMs) }]
}

function imageTrouble({ version, lastUpdate, openUpdate }: ApplianceImage, nowMs: number): Observation['wrong'] {
  if (openUpdate) return openTrouble(openUpdate, version, nowMs)
  if (!lastUpdate) return null
  const { result, reason, atMs } = lastUpdate
  const forMs = nowMs - atMs
  if (result === 'failed') {
    const message = `A newer image than ${version} could not be installed: ${reason}. The box tries again another night; journalctl -u gatehouse-update has more.`
    return { kind: 'update.failed', forMs, message }
  }
  if (result !== 'unreachable') return null
  const message = `The box has not reached its update server for ${durationWords(forMs)} and stays with image ${version}: ${reason}. Check the network and updates= of first-boot.txt.`
  return { kind: 'update.unreachable', forMs, message }
}

function openTrouble(open: LastUpdate, version: string, nowMs: number): NonNullable<Observation['wrong']> {
  const { result, version: newer, reason, reasons, acceptBy, atMs } = open
  const forMs = nowMs - atMs
  if (result === 'installed') {
    const message = `Image ${newer} was installed ${durationWords(forMs)} ago, and the box runs ${version}: the newer one did not become healthy or did not start. journalctl -u gatehouse-slot says why. Publish a corrected image.`
    return { kind: 'update.fell_back', forMs, message }
  }
  const accept = acceptBy === null ? '' : ` Or install it in spite of these reasons: update --accept ${acceptBy}.`
  const refused = reasons.length > 0 ? 'did not pass its rehearsal' : 'was refused'
  const message = `Image ${newer} ${refused}, and ${version} stays: ${reasons.join('; ') || reason}. Publish a corrected image.${accept}`
  return { kind: 'update.refused', forMs, message }
}
