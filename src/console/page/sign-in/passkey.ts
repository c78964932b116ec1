import { ask } from '../data/ask.ts'

/** Whether this browser has passkeys here: it gives them to https and localhost alone. */
export const canUsePasskeys = (): boolean => 'PublicKeyCredential' in globalThis

/** Asks the person for a passkey. Rejects with NotAllowedError when the person stops it. */
export async function shownPasskey(): Promise<object> {
  const { options } = await ask<{ options: PublicKeyCredentialRequestOptionsJSON }>('/api/session/challenge', {
    method: 'POST',
    body: {},
  })
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  const { id, response } = await written(navigator.credentials.get({ publicKey }))
  if (!('signature' in response)) throw noPasskey()
  const { clientDataJSON, authenticatorData, signature } = response
  return { id, response: { clientDataJSON, authenticatorData, signature } }
}

/** Has the browser make a passkey for the own account. Rejects with NotAllowedError when the person stops it. */
export async function madePasskey(): Promise<object> {
  const { options } = await ask<{ options: PublicKeyCredentialCreationOptionsJSON }>(
    '/api/own-account/passkeys/begin',
    {
      method: 'POST',
      body: {},
    },
  )
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  const { id, response } = await written(navigator.credentials.create({ publicKey }))
  if (!('attestationObject' in response)) throw noPasskey()
  const { clientDataJSON, attestationObject } = response
  return { id, response: { clientDataJSON, attestationObject } }
}

async function written(asked: Promise<Credential | null>) {
  const credential = await asked
  if (!(credential instanceof PublicKeyCredential)) throw noPasskey()
  return credential.toJSON()
}

const noPasskey = () => new DOMException('no passkey', 'NotAllowedError')
