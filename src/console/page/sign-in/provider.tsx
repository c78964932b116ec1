import { useState } from 'preact/hooks'
import { ask, Refused, Unreachable } from '../data/ask.ts'
import { hostOf } from '../i18n/words.ts'
import { providerTexts as words } from './provider-texts.ts'
import { signInTexts } from './sign-in-texts.ts'

/** Instances of people of an OpenID provider begin with it. */
const scheme = 'oidc:'

/** Returns the provider of a caller, as a person calls it; undefined for callers of another kind. */
export const providerOf = ({ instance }: { readonly instance: string }): string | undefined =>
  instance.startsWith(scheme) ? hostOf(instance.slice(scheme.length)) : undefined

/** Returns why the provider has sent the browser back without a sign-in; '' when it has not. */
export function failedSignIn(): string {
  const reason = location.pathname === '/sign-in' ? new URLSearchParams(location.search).get('failed') : null
  return Object.entries(words.failed).find(([known]) => known === reason)?.[1] ?? ''
}

/** Opens the page of the provider in place of this one; it comes back to this view. Rejects with Refused or Unreachable. */
export async function openProvider(path: string, body: object): Promise<void> {
  const returnTo = location.pathname === '/sign-in' ? '/' : `${location.pathname}${location.search}`
  const answer = await ask<{ location: string }>(path, { method: 'POST', body: { ...body, returnTo } })
  location.assign(answer.location)
}

type Props = {
  readonly issuers: readonly string[]
  readonly siteUrl: string
  readonly onProblem: (words: string) => void
}

/** One button for each provider. */
export const ProviderButtons = ({ issuers, siteUrl, onProblem }: Props) => {
  const [isBusy, setBusy] = useState(false)
  const open = async (issuer: string) => {
    if (isBusy) return
    setBusy(true)
    onProblem('')
    try {
      await openProvider('/api/session/provider', { issuer })
    } catch (error) {
      setBusy(false)
      onProblem(inWords(error, siteUrl))
    }
  }
  const hosts = issuers.map(hostOf)
  const nameOf = (issuer: string) =>
    hosts.filter((host) => host === hostOf(issuer)).length === 1 ? hostOf(issuer) : issuer.replace(/^https:\/\//, '')
  return (
    <>
      {issuers.map((issuer) => (
        <button type="button" class="plain" key={issuer} onClick={() => open(issuer)}>
          {words.signIn(nameOf(issuer))}
        </button>
      ))}
    </>
  )
}

function inWords(error: unknown, siteUrl: string): string {
  if (error instanceof Unreachable) return signInTexts.unreachable
  if (!(error instanceof Refused)) return signInTexts.broken
  if (error.code === 'AUTH_BACKEND_UNREACHABLE') return words.failed.unreachable
  if (error.code === 'PROVIDER_SIGN_IN_FAILED') return words.failed.setup
  // The page sends a known provider and its own path, so what is wrong is the address of the page.
  return error.code === 'VALIDATION_ERROR' ? words.address(siteUrl) : `${error.message}.`
}
