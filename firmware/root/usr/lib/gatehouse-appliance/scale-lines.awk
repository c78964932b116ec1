# Turns the lines of a scale into weights in kg, one for each weighing: what is put on the scale, settles, and is taken off.
# Understood: `ST,GS,+  12.34kg` (A&D, CAS, many others), `S S      12.34 kg` (Mettler-Toledo SICS), and a bare `12.34 kg`, of which the same
# value three times counts as settled. Lines without a unit are not read: a number alone could be anything.
# A weighing ends when the scale shows less than `empty` kg. Prints the weight with 3 digits.
function kilograms(number, unit) {
    if (unit == "kg") return number
    if (unit == "g") return number / 1000
    if (unit == "t") return number * 1000
    if (unit == "lb" || unit == "lbs") return number * 0.45359237
    if (unit == "oz") return number * 0.028349523125
    return -1
}
BEGIN { if (empty == "") empty = 0.02; given = 0; same = 0; last = "" }
{
    line = tolower($0)
    gsub(/[\r\002\003]/, "", line)
    settled = -1
    if (line ~ /^ *st *,/ || line ~ /^ *s +s /) settled = 1
    else if (line ~ /^ *us *,/ || line ~ /^ *s +d /) settled = 0
    else if (line ~ /^ *(ol|s +[i+-]|e[slti]) *(,|$)/) next
    if (!match(line, /[+-]? *[0-9]+([.,][0-9]+)? *(kg|lbs|lb|oz|g|t)( |,|$)/)) next
    text = substr(line, RSTART, RLENGTH)
    sign = text ~ /^-/ ? -1 : 1
    match(text, /[0-9]+([.,][0-9]+)?/)
    number = substr(text, RSTART, RLENGTH)
    unit = substr(text, RSTART + RLENGTH)
    sub(/,/, ".", number)
    gsub(/[ ,]/, "", unit)
    weight = sign * kilograms(number + 0, unit)
    if (weight < empty) { given = 0; same = 0; last = ""; next }
    if (settled == 0) { same = 0; last = ""; next }
    if (settled == -1) {
        same = text == last ? same + 1 : 1
        last = text
        if (same < 3) next
    }
    if (given) next
    given = 1
    printf "%.3f\n", weight
    fflush()
}
