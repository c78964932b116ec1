#!/bin/sh
# Checks a proof bundle of a gatehouse log without any program of gatehouse.
#
#   sh recipe.sh FILE.proof.json [FOLDER]
#
# FOLDER has the photos and clips; the default is the folder of FILE. It prints a line for each step and ends with 1 at the
# first that fails. Two variables add checks:
#   KEY='NAME+ID+KEY'  The log's key as you know it from elsewhere, not from the file. Separate several by blanks.
#   CA=authority.pem   The certificate of the time stamp authority that you trust.
# To read the leaf: jq -r .leaf FILE.proof.json | base64 -d | jq .
#
# It uses base64, sha256sum, xxd, openssl (3.0 or later) and jq. Formats: c2sp.org/tlog-proof, tlog-checkpoint, signed-note,
# tlog-cosignature; RFC 6962 (tree), RFC 3161 (time stamps). One scratch file in $TMPDIR is emptied and removed at the end.
file=${1:?the name of the proof bundle}
case $file in -* | [!/]*) file=./$file ;; esac
folder=${2:-${file%/*}}
IFS=' 
	'
set -fu
umask 077

say() { printf '%-13s %s\n' "$1" "$2"; }
fails() {
  say "$1" "FAILS because $2"
  exit 1
}
hex() { printf %s $(xxd -p); }                            # bytes -> hex in one line
bytes() { printf %s "$1" | xxd -r -p; }                   # hex -> bytes
sha256() { set -- $(sha256sum) && printf %s "$1"; }       # bytes -> hash in hex
unbase64() { printf %s "$1" | base64 -d; }

scratch=${TMPDIR:-/tmp}/gatehouse-proof-$$
(set -C && : >"$scratch") || fails bundle "$scratch cannot be written"
trap ': >"$scratch"; rm -f "$scratch" 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM

# 1. Read the bundle. The output of jq is words without blanks, one fact a line, or "bad STEP WHY".
facts=$(jq -rs --arg trusted "${KEY-}" '
  def is(pattern): type == "string" and test("\\A(?:" + pattern + ")\\z");
  def need(good; step; why): if good then . else error("bad \(step) \(why)") end;
  def base64: "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?";
  def hash: "[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=";
  def number: "0|[1-9][0-9]{0,14}";
  def name: "[^\\s+\\x00-\\x20\\x7f\\x{80}-\\x{9f}]+";
  def key: "\(name)[+][0-9a-f]{8}[+]\(base64)";
  try (
    need(length == 1; "leaf"; "the file is not one JSON text") | .[0]
    | need(type == "object"; "leaf"; "the file is not a bundle")
    | need(.format == "gatehouse-proof/1"; "leaf"; "the file is not a gatehouse-proof/1")
    | need(all(.keys, .openings, .media, .anchors; type == "array"); "leaf"; "a list of the bundle is missing")
    | need(all(.leaf, .tlogProof, .keys[]; type == "string"); "leaf"; "a text of the bundle is missing")
    | need(all(.openings[], .media[], .anchors[]; type == "object"); "leaf"; "an entry of a list is not an object")
    | need(all(.openings, .media, .anchors; length <= 1000); "leaf"; "a list has more than 1000 entries")
    | need([.. | scalars | tostring | length] | add < 4000000; "leaf"; "the bundle is larger than a bundle can be")
    | need(.leaf | length <= 87380 and is(base64); "leaf"; "it is not the base64 of a leaf")
    | need(.keys | length <= 50; "signature"; "there are more than 50 keys")
    | (.tlogProof | split("\n\n")) as $parts
    | need($parts | length > 1; "path"; "the proof has no checkpoint")
    | ($parts[0] | split("\n")) as $head
    | need($head[0] == "c2sp.org/tlog-proof@v1"; "path"; "the proof is not a c2sp.org/tlog-proof@v1")
    | ($head[1:] | if (.[0] // "") | startswith("extra ") then .[1:] else . end) as $lines
    | need($lines[0] | is("index (?:\(number))"); "path"; "the proof has no index")
    | need($lines[1:] | length <= 63; "path"; "the path has more than 63 hashes")
    | need(all($lines[1:][]; is(hash)); "path"; "a line of the path is not a hash")
    | need($parts | length == 3; "root"; "the checkpoint is not a signed note")
    | ($parts[1] | split("\n")) as $body
    | need($body | length == 3; "root"; "the checkpoint does not have three lines")
    | need($body[0] | is(name); "root"; "the checkpoint has no origin")
    | need($body[1] | is(number); "root"; "the checkpoint has no size")
    | need($body[2] | is(hash); "root"; "the checkpoint has no root")
    | need($parts[2] | endswith("\n"); "root"; "the checkpoint does not end with a newline")
    | ($parts[2] | split("\n")[:-1]) as $signatures
    | need($signatures | length <= 100; "root"; "the checkpoint has more than 100 signatures")
    | need(all($signatures[]; is("— \(name) \(base64)")); "root"; "a signature line of the checkpoint cannot be read")
    | ($trusted | [splits("\\s+")] - [""]) as $given
    | need(all(.keys[], $given[]; is(key)); "signature"; "a key is not NAME+ID+KEY")
    | "leaf \(.leaf)", "index \($lines[0][6:])", "path \($lines[1:] | join(" "))",
      "origin \($body[0])", "size \($body[1])", "root \($body[2])",
      (($given[] | "given " + sub("[+](?<id>[0-9a-f]{8})[+]"; " \(.id) ")),
       (.keys[] | "inside " + sub("[+](?<id>[0-9a-f]{8})[+]"; " \(.id) "))),
      ($signatures[] | "signature \(.[2:])")
  ) catch (if type == "string" and startswith("bad ") then . else "bad leaf the bundle cannot be read" end)
' "$file" 2>/dev/null) || fails leaf 'the file cannot be read or is not JSON'

keys='' signatures='' given=''
while read -r what value; do
  case $what in
    bad) fails "${value%% *}" "${value#* }" ;;
    leaf) leaf=$value ;;
    index) index=$value ;;
    path) path=$value ;;
    origin) origin=$value ;;
    size) size=$value ;;
    root) root=$value ;;
    given) given=yes keys="$keys$what $value
" ;;
    inside) keys="$keys$what $value
" ;;
    signature) signatures="$signatures$value
" ;;
  esac
done <<END
$facts
END
note() { printf '%s\n%s\n%s\n' "$origin" "$size" "$root"; } # what the log signs

# 2. The leaf: JSON that names the log that the checkpoint is of, and its own number.
seq=$(unbase64 "$leaf" | jq -rs --arg origin "$origin" '
  if length != 1 or (.[0] | type) != "object" then "it is not JSON" else .[0]
  | if all(.siteId, .logId; type == "string") | not then "it names no log"
    elif "gatehouse/\(.siteId)/\(.logId)" != $origin then "it is of another log than the checkpoint"
    elif .seq | type == "number" and . >= 1 and . < 1e15 and floor == . then .seq
    else "it has no number" end end' 2>/dev/null) || fails leaf 'it is not JSON'
case $seq in *[!0-9]* | '') fails leaf "$seq" ;; esac
say leaf "holds: number $seq of $origin"

# 3. Its hash is SHA-256(0x00, leaf); the path leads from there to the root (RFC 9162, 2.1.3.2).
hash=$({ printf '\000' && unbase64 "$leaf"; } | sha256)
say hash "holds: $hash"
[ "$index" -eq $((seq - 1)) ] || fails path "the proof is for index $index, the leaf has number $seq"
[ "$index" -lt "$size" ] || fails path "index $index is not in a log of $size leaves"
at=$index last=$((size - 1)) count=0
for next in $path; do
  [ "$last" -gt 0 ] || fails path 'it has too many hashes'
  next=$(unbase64 "$next" | hex) count=$((count + 1))
  if [ $((at % 2)) -eq 1 ] || [ "$at" -eq "$last" ]; then
    hash=$(bytes "01$next$hash" | sha256)
    while [ $((at % 2)) -eq 0 ] && [ "$at" -gt 0 ]; do at=$((at / 2)) last=$((last / 2)); done
  else
    hash=$(bytes "01$hash$next" | sha256)
  fi
  at=$((at / 2)) last=$((last / 2))
done
[ "$last" -eq 0 ] || fails path 'it has too few hashes'
say path "holds: $count hashes from leaf $seq of $size"
[ "$hash" = "$(unbase64 "$root" | hex)" ] || fails root 'the path leads to another root than the signed one'
say root "holds: $hash"

date_of() { jq -rn "$1 | todate" 2>/dev/null || printf 'second %s' "$1"; }

# 4. Signatures of the log, cosignatures of witnesses. A key id is the start of SHA-256(name, newline, type, key).
set -- $(openssl version)
case $1 in OpenSSL) ;; *) fails signature 'openssl is not OpenSSL' ;; esac
case $2 in [0-2].*) fails signature 'it needs OpenSSL 3.0 or later' ;; esac
case $2 in 3.[0-4].*) pq='' ;; *) pq=yes ;; esac

find_signature() { # name, id -> signature in hex without the id
  signature=''
  while read -r by line; do
    [ "$by" = "$1" ] || continue
    line=$(unbase64 "$line" | hex)
    case $line in "$2"*) signature=${line#????????} && return ;; esac
  done <<END
$signatures
END
}
verifies() { # key as DER in hex, signature in hex; what was signed is in the scratch file
  bytes "$1" | {
    bytes "$2" | openssl pkeyutl -verify -pubin -keyform DER -inkey /dev/fd/3 -rawin -in "$scratch" -sigfile /dev/stdin
  } 3<&0 >/dev/null 2>&1
}
short() { set -- "$(printf %s "$1" | hex)" && printf '%02x%s' $((${#1} / 2)) "$1"; } # a text behind its length
ed25519=302a300506032b6570032100 mldsa44=30820532300b06096086480165030403110382052100

logs='' witnesses='' unchecked='' seen='' believed=''
while read -r from name id material; do
  [ -n "$from" ] || continue
  vkey=$name+$id+$material
  material=$(unbase64 "$material" | hex)
  known=$({ printf '%s\n' "$name" && bytes "$material"; } | sha256)
  case $known in "$id"*) ;; *) fails signature "the key id $id is not that of $name and its key" ;; esac
  key=${material#??} type=${material%"$key"}
  case $type,${#key} in
    01,64 | 04,64 | 06,2624) ;;
    01,* | 04,* | 06,*) fails signature "the key of $name has the wrong length" ;;
    *) unchecked="$unchecked $name (unknown type $type)" && continue ;;
  esac
  if [ "$name" = "$origin" ]; then step=signature; else step=cosignatures; fi
  case $step,$type in signature,04 | cosignatures,01) continue ;; esac
  case $step,$given,$from in signature,yes,inside) continue ;; esac
  case " $seen " in *" $name+$id "*) continue ;; esac
  seen="$seen $name+$id"
  find_signature "$name" "$id"
  if [ -z "$signature" ]; then
    case $step,$from in cosignatures,inside) fails cosignatures "$name is named as a witness and did not sign" ;; esac
    continue
  fi
  if [ "$type" = 01 ]; then
    note >"$scratch"
    verifies "$ed25519$key" "$signature" || fails signature "the Ed25519 signature of $name does not verify"
    logs="$logs Ed25519" believed="$believed $vkey"
    continue
  fi
  time=${signature%"${signature#????????????????}"} signature=${signature#????????????????}
  case $time in [0-7]???????????????) ;; *) fails "$step" "the signature of $name states no time" ;; esac
  seconds=$((0x$time))
  if [ "$type" = 04 ]; then
    { printf 'cosignature/v1\ntime %s\n' "$seconds" && note; } >"$scratch"
    verifies "$ed25519$key" "$signature" || fails "$step" "the cosignature of $name does not verify"
  elif [ -z "$pq" ]; then
    unchecked="$unchecked $name (ML-DSA needs OpenSSL 3.5)" && continue
  else
    bytes "$(printf 'subtree/v1\n\000' | hex)$(short "$name")$time$(short "$origin")$(printf '%016x%016x' 0 "$size")$(
      unbase64 "$root" | hex)" >"$scratch"
    verifies "$mldsa44$key" "$signature" || fails "$step" "the ML-DSA signature of $name does not verify"
  fi
  case $step in
    signature) logs="$logs ML-DSA-44" believed="$believed $vkey" ;;
    *) witnesses="$witnesses $name at $(date_of "$seconds")" ;;
  esac
  case $step,$from in
    cosignatures,inside) witnesses="$witnesses (its key is from this file)," ;;
    cosignatures,given) witnesses="$witnesses," ;;
  esac
done <<END
$keys
END
[ -n "$logs" ] || fails signature "no key of $origin that is known here signed the checkpoint"
say signature "holds:$logs"
if [ -n "$witnesses" ]; then say cosignatures "holds:${witnesses%,}"; else say cosignatures 'not claimed'; fi
[ -z "$unchecked" ] || say '' "not checked:$unchecked"

# 5. Other claims of the bundle: time stamps, texts behind commitments, files.
claims=$(unbase64 "$leaf" | jq -r --slurpfile bundle "$file" --arg size "$size" --arg root "$root" '
  def is(pattern): type == "string" and test("\\A(?:" + pattern + ")\\z");
  def base64: "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?";
  def file: "[\\p{L}\\p{N}_][\\p{L}\\p{N}_. -]*";
  . as $leaf | $bundle[0]
  | (.anchors[]
      | if .kind == "webhook" then "webhook \(if .host | is("[A-Za-z0-9.:_-]+") then .host else "?" end)"
        elif .kind != "rfc3161" then "webhook (an anchor of another kind)"
        elif (.size | tostring) != $size or .rootHash != $root then "bad anchors a time stamp is not of this checkpoint"
        elif .token | is(base64) | not then "bad anchors a time stamp is not base64"
        else "stamp \(.token)" end),
    (.openings | to_entries[] | .key as $n | .value
      | if .field | is("[A-Za-z0-9_.]+") | not then "bad openings an opening names no field"
        elif .field as $f | .commitment as $c | try ($leaf | getpath($f | split(".") | map(tonumber? // .)) != $c) catch true
        then "bad openings the leaf has another commitment at \(.field)"
        elif (.commitment | is("[0-9a-f]{64}")) and (.salt | is(base64)) and (.text | type == "string")
        then "opening \($n) \(.commitment) \(.salt) \(.field)"
        else "bad openings the opening of \(.field) cannot be read" end),
    (.media[]
      | if .name | is(file) | not then "bad media an entry does not name a file"
        elif .sha256 as $hash | any($leaf | .. | strings; . == $hash) and ($hash | is("[0-9a-f]{64}"))
        then "media \(.sha256) \(.sizeBytes | tostring | gsub("[^0-9]"; "?")) \(.name)"
        else "bad media the leaf does not state the hash of \(.name)" end)
' 2>/dev/null) || fails openings 'what the bundle claims cannot be read'

stamps='' hosts='' opened='' files='' absent='' body=$(note | sha256)
while read -r what one two rest; do
  case $what in
    bad) fails "$one" "$two $rest" ;;
    webhook) hosts="$hosts $one${two:+ $two $rest}" ;;
    stamp)
      # The token names the SHA-256 of the stamped text; the authority's certificate makes it trusted.
      case $(unbase64 "$one" | hex) in *"0420$body"*) ;; *) fails anchors 'a time stamp is of something else' ;; esac
      stamped=$(unbase64 "$one" | openssl ts -reply -in /dev/stdin -token_in -text 2>/dev/null | jq -rRs '
        capture("(?m)^Time stamp: (?<at>[A-Z][a-z]{2} +[0-9]+ [0-9:]{8})[.0-9]* (?<year>[0-9]{4}) GMT$")
        | "\(.at) \(.year)" | strptime("%b %d %H:%M:%S %Y") | mktime') || fails anchors 'a time stamp has no time'
      stamps="$stamps $(date_of "$stamped")"
      # At its own time: the certificate may have expired since.
      [ -z "${CA-}" ] || unbase64 "$one" |
        openssl ts -verify -digest "$body" -in /dev/stdin -token_in -CAfile "$CA" -attime "$stamped" >/dev/null 2>&1 ||
        fails anchors 'a time stamp does not verify'
      ;;
    opening)
      field=${rest#* } salt=${rest%% *}
      [ "$({ unbase64 "$salt" && jq -j ".openings[$one].text" "$file"; } | sha256)" = "$two" ] ||
        fails openings "salt and text of $field do not open its commitment"
      opened="$opened $field"
      ;;
    media)
      if [ ! -f "$folder/$rest" ]; then
        absent="$absent $rest"
        continue
      fi
      [ "$(sha256 <"$folder/$rest")" = "$one" ] || fails media "$rest has other bytes"
      end=$(xxd -s -1 -l 1 "$folder/$rest" 2>/dev/null) && end=$((0x${end%%:*} + 1)) || end=0
      [ "$end" = "$two" ] || fails media "$rest has $end bytes, not $two"
      files="$files $rest"
      ;;
  esac
done <<END
$claims
END
if [ -z "$stamps" ]; then
  if [ -n "$hosts" ]; then say anchors "not checked: ask the receivers$hosts"; else say anchors 'not claimed'; fi
elif [ -n "${CA-}" ]; then
  say anchors "holds: stamped at$stamps"
else
  say anchors "not checked: stamped at$stamps; set CA to the certificate of the authority"
fi
if [ -n "$opened" ]; then say openings "holds:$opened"; else say openings 'not claimed'; fi
[ -z "$files" ] || say media "holds:$files"
[ -z "$absent" ] || say media "not checked, not in $folder:$absent"
[ -n "$files$absent" ] || say media 'not claimed'

# 6. Whose key?
[ -n "$given" ] || for vkey in $believed; do
  say '' "signed by the key inside this file; compare it with the one you know: $vkey"
done
