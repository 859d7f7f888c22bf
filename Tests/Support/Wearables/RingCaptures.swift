/// Packets that were captured from rings, or that another implementation gives for known contents.
package enum RingCaptures {
    /// Tests of tahnok/colmi_r02_client, commit 9e08383 (MIT).
    package static let battery = bytes("03 40 00 00 00 00 00 00 00 00 00 00 00 00 00 43")
    package static let timeOfNewYear = bytes("01 24 01 01 00 00 00 01 00 00 00 00 00 00 00 28")
    package static let timeFourHoursLater = bytes("01 24 01 01 04 00 00 01 00 00 00 00 00 00 00 2c")
    package static let live = bytes("69 01 00 4e 00 00 00 00 00 00 00 00 00 00 00 b8")
    package static let notWorn = bytes("69 01 01 00 00 00 00 00 00 00 00 00 00 00 00 6b")
    package static let noHeartRates = bytes("15 ff 00 00 00 00 00 00 00 00 00 00 00 00 00 14")
    package static let noSteps = bytes("43 ff 00 00 00 00 00 00 00 00 00 00 00 00 00 42")
    package static let steps = [
        bytes("43 f0 01 01 00 00 00 00 00 00 00 00 00 00 00 35"),
        bytes("43 24 10 15 5c 00 01 79 00 15 00 10 00 00 00 87"),
    ]
    /// The example in `steps.py` of the same: 13 August 2023.
    package static let dayOfSteps = [
        bytes("43 f0 05 01 00 00 00 00 00 00 00 00 00 00 00 39"),
        bytes("43 23 08 13 10 00 05 c8 00 30 00 1b 00 00 00 a9"),
        bytes("43 23 08 13 14 01 05 b6 18 aa 04 69 03 00 00 83"),
        bytes("43 23 08 13 18 02 05 38 04 e1 00 95 00 00 00 52"),
        bytes("43 23 08 13 1c 03 05 05 02 6c 00 48 00 00 00 60"),
        bytes("43 23 08 13 4c 04 05 ef 01 63 00 44 00 00 00 6d"),
    ]
    /// `MYSTERIES.md` of the same.
    package static let batteryNotice = bytes("73 0c 2b 01 00 00 00 00 00 00 00 00 00 00 00 ab")
    package static let fullBatteryNotice = bytes("73 0c 64 01 00 00 00 00 00 00 00 00 00 00 00 e4")
    package static let packetSize = bytes("2f f1 00 00 00 00 00 00 00 00 00 00 00 00 00 20")

    /// `tests/captures/heart_rate_log_1730412850.bin` of the same: the ring's day of 31 October 2024, read at 22:14:10 UTC with its
    /// clock at UTC. The values of 22:15 and 22:20, which were still to come, are of the day before.
    package static let heartRates =
        [bytes("15 00 18 05 00 00 00 00 00 00 00 00 00 00 00 32")]
        + rows([
            1: "c0 00 23 67 00 00 00 00 00 00 68 00 00", 2: "00 00 00 6f 00 00 00 00 00 00 00 00 00",
            3: "00 00 42 00 00 00 00 00 00 00 00 00 00", 15: "00 00 59 5b 59 4a 59 72 6a 59 5a 66 57",
            16: "58 57 54 61 5c 66 52 55 5f 6b 56 76 5d", 17: "59 54 57 62 57 59 5b 4b 57 53 5a 66 72",
            18: "56 58 63 5f 70 4d 59 61 48 54 60 5b 58", 19: "67 56 49 64 00 00 00 00 00 00 00 00 00",
            21: "00 00 00 00 00 00 00 00 46 54 71 4b 6f",
        ])
    /// The sums of these packets, as captured.
    package static let heartRateSums = bytes(
        """
        32 c8 86 5a 19 1a 1b 1c 1d 1e 1f 20 21 22 23 20 e5 be bd 92 29 ef 2b 2c
        """)

    /// A night of tests for the same client: CRC-16/MODBUS of the body is 89D4, and the 22 stages fill the 639 minutes.
    package static let sleep = bytes(
        """
        bc 27 33 00 d4 89 01 00 30 3f 05 1e 02 02 36 03 11 05 11 02 30 03 10 02 20 04 20 03 20 02 20 04 10 03 20
        02 20 04 10 02 20 03 20 02 40 03 20 02 30 03 10 02 02 05 0c 02 19
        """)

    private static func rows(_ rows: [UInt8: String]) -> [[UInt8]] {
        (UInt8(1)...23).map { number -> [UInt8] in
            let values: [UInt8] = rows[number].map(bytes) ?? Array(repeating: 0, count: 13)
            return [0x15, number] + values + [heartRateSums[Int(number)]]
        }
    }
}
