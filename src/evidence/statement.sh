#!/bin/sh
# Checks a signed statement that a slot was untouched, without any program of gatehouse.
#
#   sh statement.sh FILE.note
#
# KEY='NAME+ID+KEY' is the log's key as you know it from elsewhere; without it the key inside the file is used. It prints what the
# statement says and ends with 1 when something does not hold. The whole statement: sed -n 2p FILE.note | jq .
#
# It uses base64, sha256sum, xxd, openssl (3.0 or later) and jq. Formats: c2sp.org/signed-note, tlog-checkpoint; RFC 8785 (JSON).
# One scratch file in $TMPDIR is emptied and removed at the end.
file=${1:?the name of the statement}
case $file in -* | [!/]*) file=./$file ;; esac
set -fu
umask 077

say() { printf '%-10s %s\n' "$1" "$2"; }
fails() {
  say "$1" "FAILS because $2"
  exit 1
}
hex() { printf %s $(xxd -p); }                      # bytes -> hex in one line
bytes() { printf %s "$1" | xxd -r -p; }             # hex -> bytes
sha256() { set -- $(sha256sum) && printf %s "$1"; } # bytes -> hash in hex
unbase64() { printf %s "$1" | base64 -d; }

scratch=${TMPDIR:-/tmp}/gatehouse-statement-$$
(set -C && : >"$scratch") || fails statement "$scratch cannot be written"
trap ': >"$scratch"; rm -f "$scratch" 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM

# 1. Read it: a first line, one line of JSON, an empty line, one signature. The checkpoint inside has the same form.
facts=$(jq -rRs --arg trusted "${KEY-}" '
  def need(good; why): if good then . else error("bad \(why)") end;
  def is(pattern): type == "string" and test("\\A(?:" + pattern + ")\\z");
  def base64: "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?";
  def name: "[^\\s+\\x00-\\x20\\x7f]+";
  try (
    need(length < 4000000; "it is larger than a statement can be")
    | split("\n\n") as $parts
    | need($parts | length == 2; "it is not a signed note")
    | ($parts[0] | split("\n")) as $lines
    | need($lines | length == 2; "its text does not have two lines")
    | need($lines[0] == "gatehouse untouched statement v1"; "it is no statement about a slot")
    | need($parts[1] | is("— \(name) \(base64)\n"); "it does not have one signature")
    | ($lines[1] | fromjson) as $say
    | need($say | type == "object"; "its JSON is not an object")
    | $say.checkpoint as $head
    | need($head | type == "object"; "it has no checkpoint")
    | need(all($say.siteId, $say.key, $say.from, $say.to, $head.logId, $head.note, $head.rootHash; type == "string"); "a text is missing")
    | need($say.untouched | type == "boolean"; "it does not say whether the slot was untouched")
    | "gatehouse/\($say.siteId)/\($head.logId)" as $origin
    | need($origin | is(name); "it names no log")
    | need($parts[1] | startswith("— \($origin) "); "it is signed by another log")
    | ($head.note | split("\n\n")) as $note
    | need($note[0] == "\($origin)\n\($head.size)\n\($head.rootHash)"; "its checkpoint is of another log, size or root")
    | ([$note[1] | split("\n")[] | select(startswith("— \($origin) "))] | map(split(" ")[2])) as $signatures
    | need($signatures | length > 0 and all(.[]; is(base64)); "its checkpoint is not signed by its log")
    | ([$trusted | splits("\\s+")] - [""]) as $given
    | ([if $given == [] then $say.key else $given[] end | select(startswith($origin + "+"))]) as $keys
    | need(any($keys[]; .); "no key of \($origin) is known here")
    | "signature \($parts[1] | split(" ")[2] | rtrimstr("\n"))", "name \($origin)",
      ($keys[] | select(is("\(name)[+][0-9a-f]{8}[+]\(base64)")) | .[($origin | length) + 1:] | "key \(.[:8]) \(.[9:])"),
      "heads \($signatures | join(" "))", "own \($given == [])",
      "words slot \($say.slot.slot_id | tojson) from \($say.from) to \($say.to): \(if $say.untouched then "untouched" else "\($say.events | length) events" end)",
      "seen \($say.watchedShare * 100 | floor) % of it was watched by a camera; checkpoint of \($head.size) leaves"
  ) catch (if type == "string" and startswith("bad ") then . else "bad it cannot be read" end)
' "$file" 2>/dev/null) || fails statement 'the file cannot be read'

keys='' heads='' words='' seen='' own=false
while read -r what value; do
  case $what in
    bad) fails statement "$value" ;;
    signature) signature=$value ;;
    name) name=$value ;;
    key) keys="$keys$value
" ;;
    heads) heads=$value ;;
    own) own=$value ;;
    words) words=$value ;;
    seen) seen=$value ;;
  esac
done <<END
$facts
END

# 2. The key: its id is the start of SHA-256(name, newline, 1, key). Others than Ed25519 do not sign statements.
set -- $(openssl version)
case $1,$2 in OpenSSL,[3-9]* | OpenSSL,[1-9][0-9]*) ;; *) fails signature 'it needs OpenSSL 3.0 or later' ;; esac
found='' key=''
while read -r id material; do
  [ -n "$id" ] || continue
  material=$(unbase64 "$material" | hex)
  case $material in 01*) ;; *) continue ;; esac
  [ ${#material} -eq 66 ] || fails signature 'the key has the wrong length'
  known=$({ printf '%s\n' "$name" && bytes "$material"; } | sha256)
  case $known in "$id"*) ;; *) fails signature 'the id of the key is not that of its name and bytes' ;; esac
  case $(unbase64 "$signature" | hex) in "$id"*) found=$id key=${material#01} ;; esac
done <<END
$keys
END
[ -n "$found" ] || fails signature "no key of $name that is known here signed it"

verifies() { # signature in base64, with the id; what was signed is in the scratch file
  set -- "$(unbase64 "$1" | hex)"
  [ ${#1} -eq 136 ] || return 1
  bytes "302a300506032b6570032100$key" | {
    bytes "${1#????????}" | openssl pkeyutl -verify -pubin -keyform DER -inkey /dev/fd/3 -rawin -in "$scratch" -sigfile /dev/stdin
  } 3<&0 >/dev/null 2>&1
}

# 3. The signature over the two lines, and that of the same key over the checkpoint.
jq -jRs 'split("\n\n")[0] + "\n"' "$file" >|"$scratch"
verifies "$signature" || fails signature 'it does not verify'
say signature "holds: Ed25519 of $name"
jq -jRs 'split("\n")[1] | fromjson | .checkpoint.note | split("\n\n")[0] + "\n"' "$file" >|"$scratch"
signed=''
for head in $heads; do
  case $(unbase64 "$head" | hex) in "$found"*) verifies "$head" && signed=yes ;; esac
done
[ -n "$signed" ] || fails checkpoint 'this key did not sign the checkpoint inside'
say checkpoint 'holds'
say says "$words"
say says "$seen"
if [ "$own" = true ]; then
  say note "signed by the key inside this file; compare it with the one you know: $name+$found"
fi
