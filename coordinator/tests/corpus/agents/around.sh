#!/bin/sh
# The built-in agent, and what an agent's process may do beside it.
# usage: around.sh BEHAVIOURS MCP_CONFIG PROGRAM ARGUMENT…   (the prompt comes on standard input)
behaviours=$1 config=$2
shift 2
cat > prompt
# A later prompt does not name the scenario any more.
[ -f scenario ] || sed -n 's/.*\[\([a-z0-9-]*\)\].*/\1/p' prompt > scenario
scenario=$(cat scenario)
# The server learns from the query which scenario is played.
sed "s#/mcp\"#/mcp?scenario=$scenario\"#" "$config" > mcp.json

play() { "$@" < prompt; }

case $(cat "$behaviours/$scenario" 2> /dev/null) in
    '') play "$@" ;;
    crash) play "$@"; echo 'out of ideas' >&2; exit 3 ;;
    crash-at-once) echo 'no licence' >&2; exit 7 ;;
    signal) play "$@"; kill -SEGV $$ ;;
    dawdle) play "$@"; sleep 86399 & sleep 86399 ;;
    impatient) play "$@" --max-steps 1 ;;
    cut-output) play "$@" > /dev/null; printf '{"answer": "It is sun' ;;
    other-output) play "$@" > /dev/null; echo 'It is sunny.' ;;
    no-output) play "$@" > /dev/null ;;
    no-answer) play "$@" > /dev/null; echo '{"reply": "It is sunny."}' ;;
    chatty) play "$@"; echo 'one more thing' ;;
    never-connects) echo '{"answer": "It is sunny."}' ;;
    *) echo 'no such behaviour' >&2; exit 99 ;;
esac
