import { sizeWords } from '../../platform/index.ts'
import { counted } from '../amounts.ts'
import { type DoctorFinding, findingsOn } from './finding.ts'

/** `online`: null without probes. */
export type UplinkFacts = { readonly probes: number; readonly online: boolean | null }

/** @param needed whether anything of the config needs the uplink: webhooks, uploads, witnesses */
export function uplinkFinding({ probes, online }: UplinkFacts, needed: boolean): DoctorFinding {
  const of = findingsOn({ topic: 'uplink' })
  if (online === null) {
    const what = 'uplink.probes names no address that shows whether the uplink works.'
    const next = 'Set uplink.probes, so that an outage of the uplink is not counted as an outage of the receivers.'
    return needed ? of.note(what, next) : of.good('The config needs no uplink.')
  }
  if (online) return of.good('The uplink works.')
  return of.bad(
    `None of ${counted(probes, 'probe')} answers: the box is offline.`,
    'Check the router, the cable and DNS.',
  )
}

/** Result of a real request to a storage server. */
export type ServerFacts = {
  readonly url: string
  /** Why it did not answer as a storage server does; null: it did. */
  readonly problem: string | null
  readonly tookMs: number
}

const slowMs = 2000

export function serverFinding({ url, problem, tookMs }: ServerFacts): DoctorFinding {
  const of = findingsOn({ topic: 'storage server', subject: url })
  const next = 'Check the server and the network. Known users work on for auth.staleFor; new ones cannot sign in.'
  if (problem !== null) return of.bad(`It does not answer as a storage server: ${problem}.`, next)
  const what = `It answers in ${Math.round(tookMs)} ms.`
  return tookMs > slowMs ? of.change(what, next) : of.good(what)
}

/** Result of a sign-in with the account of storage.upload. */
export type AccountFacts = {
  readonly username: string
  readonly url: string
  /** Why files cannot be put there; null: they can. */
  readonly problem: string | null
  /** Whether the server refused the password itself. */
  readonly isRefused: boolean
  /** Room that the server reports for this account; null: not reported, or there is no limit. */
  readonly freeBytes: number | null
}

const littleRoomBytes = 2 * 1024 ** 3

export function accountFinding({ username, url, problem, isRefused, freeBytes }: AccountFacts): DoctorFinding {
  const of = findingsOn({ topic: 'upload account', subject: `${username} at ${url}` })
  if (problem !== null && isRefused) {
    const next =
      'Make a new application password on the server, put it into the file of storage.upload.passwordFile, and reload.'
    return of.bad(`Signing in is refused: ${problem}.`, next)
  }
  if (problem !== null)
    return of.bad(
      `Files cannot be put there: ${problem}.`,
      'Check storage.upload.instance, the server and the network.',
    )
  if (freeBytes === null) return of.good('Signing in works; the server names no limit of its room.')
  const what = `Signing in works; ${sizeWords(freeBytes)} are left for this account.`
  if (freeBytes >= littleRoomBytes) return of.good(what)
  return of.change(what, 'Raise the quota of the account, or remove old files on the server.')
}

/** A certificate of a listener. */
export type CertificateFacts = {
  readonly certFile: string
  /** Why the listener cannot use it; null: it can. */
  readonly problem: string | null
  readonly daysLeft: number
  /** Names and addresses of the config that it does not cover. */
  readonly uncovered: readonly string[]
  /** `box-ca`: by the authority of this box. `incomplete`: an intermediate certificate is missing. `unknown`: by one that this box does not know. */
  readonly chain: 'box-ca' | 'public' | 'self-signed' | 'incomplete' | 'unknown'
}

const soonDays = 30

export function certificateFinding(facts: CertificateFacts): DoctorFinding {
  const { certFile, problem, daysLeft, uncovered, chain } = facts
  const of = findingsOn({ topic: 'certificate', subject: certFile })
  const renew =
    chain === 'box-ca'
      ? 'Run gatehouse tls init with the config, then reload.'
      : 'Renew it at its authority, then reload.'
  if (problem !== null) return of.bad(`${problem}.`, 'Put the right files in place, then reload.')
  if (daysLeft < 0) return of.bad(`It ran out ${counted(-daysLeft, 'day')} ago; clients refuse it.`, renew)
  if (chain === 'incomplete') {
    const next = 'Put the intermediate certificates behind it in the same file, as the authority delivers them.'
    return of.bad('Its chain is incomplete: no certificate in the file signed the one before it.', next)
  }
  if (uncovered.length > 0)
    return of.change(`It does not name ${uncovered.join(', ')}, so clients that use that address refuse it.`, renew)
  const left = `It is good for ${counted(daysLeft, 'more day')}`
  if (daysLeft < soonDays) return of.change(`${left}.`, renew)
  return chain === 'self-signed'
    ? of.note(
        `${left}; it is signed by itself, so each client has to trust it one by one.`,
        'gatehouse tls init makes an authority of this box.',
      )
    : of.good(`${left}${chain === 'box-ca' ? ', by the authority of this box' : ''}.`)
}
