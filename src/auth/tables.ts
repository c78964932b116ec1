import type { Role } from '../config/index.ts'
import { blob, builderOver, defaulted, integer, maybe, text, word } from '../database/index.ts'

export const tables = {
  local_account: {
    username: text,
    role: word<Role>(),
    secret_hash: text,
    created_at_ms: integer,
  },
  local_account_state: {
    username: text,
    groups: text,
    held_secret_hash: maybe(text),
    disabled_at_ms: maybe(integer),
    passkey_alone: integer,
  },
  known_caller: {
    instance: text,
    username: text,
    groups: text,
    role: text,
    updated_at_ms: integer,
  },
  known_credential: {
    id: blob,
    instance: text,
    username: text,
    as_bearer: integer,
    verified_at_ms: integer,
  },
  storage_try: {
    id: integer,
    instance: text,
    at_ms: integer,
    network: text,
    login_mark: text,
  },
  console_session: {
    token_sha256: blob,
    username: text,
    instance: text,
    account_mark: blob,
    created_at_ms: integer,
    expires_at_ms: integer,
  },
  console_session_secret: {
    token_sha256: blob,
    sealed: blob,
  },
  console_session_facts: {
    token_sha256: blob,
    address: text,
    factor_at_ms: maybe(integer),
  },
  second_factor: {
    id: defaulted(integer),
    username: text,
    kind: word<'totp' | 'passkey'>(),
    name: text,
    credential_id: maybe(text),
    secret: blob,
    counter: integer,
    created_at_ms: integer,
    used_at_ms: maybe(integer),
  },
  recovery_code: {
    code_sha256: blob,
    username: text,
  },
} as const

export const sql = builderOver(tables)
