import JSON
package import MQTT
package import Vitals

/// A measurement cut into messages that a broker takes.
package struct MeasurementParts: Sendable {
    /// The messages in order, with the samples of each.
    package var messages: [(message: OutgoingMessage, samples: [StoredSample])] = []
    /// The samples that no message can carry.
    package var refused: [StoredSample] = []
}

extension ContractEncoder {
    /// The digits by which `part` and `parts` may be longer than in a message of one part: 200 samples have three.
    private static let partDigits = 4

    /// Cuts a measurement into messages with payloads of at most `maximumPayload` bytes, each with as many samples as
    /// fit. They share the number of the fact.
    /// - Parameter isRefused: samples that the broker is known not to take.
    package mutating func parts(
        of measurement: Fact.Measurement, device: DeviceID, sequence: Int64, info: DeviceInfo, publishedAt: Timestamp,
        isReplay: Bool, maximumPayload: Int, isRefused: (StoredSample) -> Bool
    ) -> MeasurementParts {
        var parts = MeasurementParts()
        let person = info.person(user: measurement.user)
        func message(_ samples: [StoredSample], _ part: (number: Int, of: Int), _ encoder: inout Self)
            -> OutgoingMessage
        {
            var measurement = measurement
            measurement.samples = samples
            return encoder.measurement(
                measurement, of: device, person: person, sequence: sequence, publishedAt: publishedAt,
                isReplay: isReplay, part: part)
        }
        let room = maximumPayload - message([], (1, 1), &self).payload.count - Self.partDigits
        var groups: [[StoredSample]] = []
        var left = 0
        for stored in measurement.samples {
            let size = size(of: stored)
            guard size <= room, !isRefused(stored) else {
                parts.refused.append(stored)
                continue
            }
            if groups.isEmpty || size >= left {
                groups.append([stored])
                left = room - size
            } else {
                // One byte for the comma.
                groups[groups.count - 1].append(stored)
                left -= size + 1
            }
        }
        for (index, samples) in groups.enumerated() {
            parts.messages.append((message(samples, (index + 1, groups.count), &self), samples))
        }
        return parts
    }

    /// The bytes of a sample in a measurement.
    private mutating func size(of stored: StoredSample) -> Int {
        var writer = JSONWriter(reservingCapacity: 512)
        write(stored, to: &writer)
        return writer.bytes.count
    }
}
