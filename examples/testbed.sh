#!/usr/bin/env bash
# Downloads through a bottleneck between network namespaces, captured before and behind its queue.
#
#   sudo examples/testbed.sh FOLDER
#
# leaves in FOLDER, of each run, NAME-in.pcap (what came to the queue) and NAME-out.pcap (what left it): cubic alone, bbr
# alone, and both at a time, several times each. Needs iproute2, ethtool, iperf3 and tcpdump, and of the kernel tbf, and
# netem for the delay; without netem it goes on with none. What is there by default can be said otherwise:
#
#   RATE=20mbit DELAY=20ms BUFFER=100000 RUNS=3 DURATION=10 ALGORITHMS="cubic bbr" sudo -E examples/testbed.sh FOLDER
set -euo pipefail

folder=${1:?usage: testbed.sh FOLDER}
rate=${RATE:-20mbit}
delay=${DELAY:-20ms}
buffer=${BUFFER:-100000} # bytes
runs=${RUNS:-3}
duration=${DURATION:-10} # seconds
read -ra algorithms <<<"${ALGORITHMS:-cubic bbr}"

# Namespaces of this run alone: sender, router, receiver.
sender=cca-s-$$ router=cca-r-$$ receiver=cca-c-$$
clean() {
    for space in "$sender" "$router" "$receiver"; do
        # What runs there does not outlive it.
        ip netns pids "$space" 2>/dev/null | xargs -r kill 2>/dev/null || true
        ip netns del "$space" 2>/dev/null || true
    done
}
trap clean EXIT
in_space() { ip netns exec "$@"; }

mkdir -p "$folder"
for space in "$sender" "$router" "$receiver"; do
    ip netns add "$space"
    ip -n "$space" link set lo up
done
ip link add s0 netns "$sender" type veth peer name r0 netns "$router"
ip link add c0 netns "$receiver" type veth peer name r1 netns "$router"
for end in "$sender s0 10.9.0.1" "$router r0 10.9.0.254" "$router r1 10.9.1.254" "$receiver c0 10.9.1.1"; do
    read -r space device address <<<"$end"
    ip -n "$space" address add "$address/24" dev "$device"
    ip -n "$space" link set "$device" up
    # Packets as they are on a wire: no frames of 64 KiB.
    in_space "$space" ethtool -K "$device" tso off gso off gro off >/dev/null
done
ip -n "$sender" route add default via 10.9.0.254
ip -n "$receiver" route add default via 10.9.1.254
in_space "$router" sysctl -qw net.ipv4.ip_forward=1
in_space "$router" tc qdisc add dev r1 root tbf rate "$rate" burst 5000 limit "$buffer"
# On the way back, so that it is not in the queue's place.
in_space "$router" tc qdisc add dev r0 root netem delay "$delay" limit 10000 2>/dev/null ||
    echo "testbed: the kernel has no netem: there is no delay but the queue's" >&2

# Senders of these algorithms, at a time; each goes to a port of its own: 5001 is the first algorithm's.
run() {
    local name=$1 pids=() captures=()
    shift
    ip netns exec "$router" tcpdump -qn -i r0 -s 128 -w "$folder/$name-in.pcap" tcp 2>/dev/null &
    captures+=($!)
    ip netns exec "$router" tcpdump -qn -i r1 -s 128 -w "$folder/$name-out.pcap" tcp 2>/dev/null &
    captures+=($!)
    sleep 1
    for algorithm in "$@"; do
        local port=5001
        for known in "${algorithms[@]}"; do
            [[ $known == "$algorithm" ]] && break
            port=$((port + 1))
        done
        ip netns exec "$receiver" iperf3 -s -1 -p $port >/dev/null &
        sleep 0.3
        ip netns exec "$sender" iperf3 -c 10.9.1.1 -p $port -C "$algorithm" -t "$duration" >/dev/null &
        pids+=($!)
    done
    wait "${pids[@]}"
    # The kernel hands packets over by blocks, the last one of which may take a second and more to be full, and what
    # waits in it is lost when tcpdump ends.
    sleep 2.5
    kill "${captures[@]}"
    wait "${captures[@]}" || true
    echo "testbed: $folder/$name-in.pcap, $folder/$name-out.pcap"
}

for ((number = 1; number <= runs; number++)); do
    for algorithm in "${algorithms[@]}"; do
        run "${algorithm}_$number" "$algorithm"
    done
    run "together_$number" "${algorithms[@]}"
done
