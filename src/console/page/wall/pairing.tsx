import { useEffect, useState } from 'preact/hooks'
import { inHalves } from '../codes/pair-code.ts'
import { post } from '../data/api.ts'
import { ask, Refused } from '../data/ask.ts'
import { Qr } from '../kit/qr-code.tsx'
import { wallTexts as words } from './texts.ts'

type Pairing = { readonly code: string; readonly token: string; readonly qr: string }
type Collected = { readonly enrolmentCode: string | null }

const askEveryMs = 2000
const retryMs = 5000

/** The code that a phone scans to enrol this screen. It asks for another one when that has ended. */
export const PairingCode = ({ onCode }: { onCode: (enrolmentCode: string) => void }) => {
  const [pairing, setPairing] = useState<Pairing | undefined>(undefined)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const later = (work: () => Promise<void>, ms: number) => {
      if (!isOver) timer = setTimeout(() => void work(), ms)
    }
    const begin = async (): Promise<void> => {
      try {
        const made = await post('/api/device-pairings', {})
        if (!isOver) setPairing(made)
        later(() => look(made), askEveryMs)
      } catch {
        later(begin, retryMs)
      }
    }
    const look = async (of: Pairing): Promise<void> => {
      try {
        const body = { token: of.token }
        const { enrolmentCode } = await ask<Collected>('/api/device-pairings/collect', { method: 'POST', body })
        if (isOver) return
        if (enrolmentCode === null) later(() => look(of), askEveryMs)
        else onCode(enrolmentCode)
      } catch (error) {
        const isGone = error instanceof Refused && error.status === 404
        later(isGone ? begin : () => look(of), isGone ? 0 : retryMs)
      }
    }
    void begin()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [])
  if (!pairing) return null
  return (
    <section class="wall-pairing" aria-label={words.pairing}>
      <Qr svg={pairing.qr} label={words.qr} />
      <p>{words.pairSteps}</p>
      <p class="wall-code code">{inHalves(pairing.code)}</p>
    </section>
  )
}
