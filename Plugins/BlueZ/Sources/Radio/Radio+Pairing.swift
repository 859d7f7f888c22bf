import Concurrency
import GatewayKit
import Logging

/// Pairing: the gateway's agent answers BlueZ while it pairs one of the gateway's devices (BlueZ's manual page org.bluez.Agent).
extension Radio {
    static let agentPath = "/vitals2mqtt/agent"
    /// How long a person has to press a button of the device.
    static let pairingTime: Duration = .seconds(60)

    /// Pairs a device. BlueZ keeps the bond.
    func pair(_ path: String, _ target: DeviceTarget) async throws(BusError) {
        try await pairingTurn.withLock { () throws(BusError) in
            let ability = target.pairing == .justWorks ? "NoInputNoOutput" : "KeyboardOnly"
            try await call(
                BlueZ.root, BlueZ.agentManager, "RegisterAgent", [.path(Self.agentPath), .string(ability)])
            pairing[path] = target.pairing
            let result: Result<Void, BusError>
            do throws(BusError) {
                try await call(path, BlueZ.device, "Pair", timeout: Self.pairingTime)
                result = .success(())
            } catch { result = .failure(error) }
            pairing[path] = nil
            if case .failure = result {
                _ = try? await call(path, BlueZ.device, "CancelPairing", isCleanUp: true)
            }
            _ = try? await call(
                BlueZ.root, BlueZ.agentManager, "UnregisterAgent", [.path(Self.agentPath)], isCleanUp: true)
            if case .failure(.reply("org.bluez.Error.AlreadyExists", _)) = result { return }
            try result.get()
            // Without this BlueZ asks somebody each time the device connects by itself.
            _ = try? await setProperty(path, BlueZ.device, "Trusted", .bool(true))
            logger.info("A device is paired.", metadata: ["device": "\(target.selector)"])
        }
    }

    /// Answers a question of BlueZ about a device that is being paired. Others are rejected.
    func agent(_ question: Bus.Message) {
        guard let bus else { return }
        let rejected = Bus.Result.failure(
            .reply(name: "org.bluez.Error.Rejected", message: "The gateway does not pair it so."))
        let policy = question.arguments.first?.text.flatMap { pairing[$0] }
        let answer: Bus.Result
        switch (question.member, policy) {
        case _ where question.sender != owner || question.interface != BlueZ.agent: answer = rejected
        case ("Release", _), ("Cancel", _): answer = .success([])
        case ("RequestPasskey", .passkey(let number)): answer = .success([.uint32(number)])
        case ("RequestPinCode", .passkey(let number)):
            let digits = String(number)
            answer = .success([.string(String(repeating: "0", count: 6 - digits.utf8.count) + digits)])
        case ("RequestAuthorization", .some), ("AuthorizeService", .some): answer = .success([])
        case ("RequestConfirmation", .passkey(let number)):
            answer = question.arguments.last?.number == Int(number) ? .success([]) : rejected
        default: answer = rejected
        }
        if case .failure = answer {
            logger.notice(
                "A question about pairing is rejected.",
                metadata: ["question": "\(question.member)", "object": "\(question.arguments.first?.text ?? "")"])
        }
        try? bus.reply(to: question, answer)
    }
}
