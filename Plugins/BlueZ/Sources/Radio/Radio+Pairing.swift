import Concurrency
import GatewayKit
import Logging
import Vitals

/// Pairing: the gateway's agent answers BlueZ while it pairs one of the gateway's devices (BlueZ's manual page org.bluez.Agent).
extension Radio {
    static let agentPath = "/vitals2mqtt/agent"
    /// How long a person has to press a button of the device.
    static let pairingTime: Duration = .seconds(60)

    /// How long a person has to type a passkey: devices give a pairing up 30 s after its last message (Bluetooth Core Specification,
    /// Vol 3, Part H, 3.4).
    static let passkeyTime: Duration = .seconds(30)

    /// Pairs a device. BlueZ keeps the bond.
    func pair(_ path: String, _ target: DeviceTarget, _ passkeys: PasskeyRequests) async throws(BusError) {
        try await pairingTurn.withLock { () throws(BusError) in
            try await registerAgent(target.pairing == .justWorks ? "NoInputNoOutput" : "KeyboardOnly")
            let attempt = PairingAttempt(path: path, pairing: target.pairing)
            pairing = attempt
            let result = await withPasskeys(target.pairing == .ask ? passkeys : nil) {
                () async -> Result<Void, BusError> in
                do throws(BusError) {
                    try await self.call(path, BlueZ.device, "Pair", timeout: Self.pairingTime)
                    return .success(())
                } catch { return .failure(error) }
            }
            pairing = nil
            if case .failure = result {
                _ = try? await call(path, BlueZ.device, "CancelPairing", isCleanUp: true)
            }
            await unregisterAgent()
            if target.pairing == .ask { report(result, of: attempt, target, passkeys) }
            if case .failure(.reply("org.bluez.Error.AlreadyExists", _)) = result { return }
            try result.get()
            // Without this BlueZ asks for permission each time the device connects by itself.
            _ = try? await setProperty(path, BlueZ.device, "Trusted", .bool(true))
            logger.info("A device is paired.", metadata: ["device": "\(target.selector)"])
        }
    }

    /// Registers the agent, and not as the default one, which would answer for the whole machine. One that is there already is the
    /// gateway's own, left from a call whose answer was not waited for.
    private func registerAgent(_ ability: String) async throws(BusError) {
        let arguments: [BusValue] = [.path(Self.agentPath), .string(ability)]
        do throws(BusError) {
            do throws(BusError) { try await call(BlueZ.root, BlueZ.agentManager, "RegisterAgent", arguments) } catch {
                guard case .reply("org.bluez.Error.AlreadyExists", _) = error else { throw error }
                await unregisterAgent()
                try await call(BlueZ.root, BlueZ.agentManager, "RegisterAgent", arguments)
            }
        } catch {
            // Without an answer it may be there all the same.
            if case .reply = error { throw error }
            await unregisterAgent()
            throw error
        }
    }

    private func unregisterAgent() async {
        _ = try? await call(
            BlueZ.root, BlueZ.agentManager, "UnregisterAgent", [.path(Self.agentPath)], isCleanUp: true)
    }

    /// Runs `body`, and meanwhile hands BlueZ's questions for a passkey to a person.
    private func withPasskeys(
        _ passkeys: PasskeyRequests?, _ body: @escaping @Sendable () async -> Result<Void, BusError>
    ) async -> Result<Void, BusError> {
        guard let passkeys else { return await body() }
        return await withTaskGroup(of: Result<Void, BusError>?.self) { group in
            group.addTask { await body() }
            group.addTask {
                await self.askPerson(passkeys)
                return nil
            }
            defer { group.cancelAll() }
            for await case let result? in group { return result }
            return .failure(.cancelled)
        }
    }

    /// Asks a person each time that BlueZ asks, until the pairing is over.
    private func askPerson(_ passkeys: PasskeyRequests) async {
        while !Task.isCancelled, let attempt = pairing {
            guard let question = attempt.question else {
                await attempt.asked.wait()
                continue
            }
            attempt.question = nil
            let answer: Bus.Result
            do throws(LinkError) {
                let passkey = try await passkeys.passkey(within: Self.passkeyTime, clock: clock)
                let isText = question.member == "RequestPinCode"
                answer = .success([isText ? .string(passkey.digits) : .uint32(passkey.number)])
            } catch {
                // A pairing that has ended by itself has its own reason.
                if error.code == .timeout { attempt.failure = error }
                answer = .failure(.reply(name: "org.bluez.Error.Canceled", message: "No passkey was given."))
            }
            try? bus?.reply(to: question, answer)
        }
    }

    /// Reports to a person how the pairing has ended.
    private func report(
        _ result: Result<Void, BusError>, of attempt: PairingAttempt, _ target: DeviceTarget,
        _ passkeys: PasskeyRequests
    ) {
        switch result {
        case .success, .failure(.reply("org.bluez.Error.AlreadyExists", _)): passkeys.end(nil, clock: clock)
        case .failure(let error):
            passkeys.end(
                attempt.failure ?? LinkError(of: error, "The pairing with \(target.selector)"), clock: clock)
        }
    }

    /// Answers a question of BlueZ about a device that is being paired. Others are rejected.
    func agent(_ question: Bus.Message) {
        guard let bus else { return }
        let rejected = Bus.Result.failure(
            .reply(name: "org.bluez.Error.Rejected", message: "The gateway does not pair it so."))
        let attempt = question.arguments.first?.text == pairing?.path ? pairing : nil
        let answer: Bus.Result
        switch (question.member, attempt?.pairing) {
        case _ where question.sender != owner || question.interface != BlueZ.agent: answer = rejected
        case ("Release", _), ("Cancel", _): answer = .success([])
        case ("RequestPasskey", .ask), ("RequestPinCode", .ask):
            attempt?.question = question
            attempt?.asked.wake()
            return
        case ("RequestPasskey", .passkey(let passkey)): answer = .success([.uint32(passkey.number)])
        case ("RequestPinCode", .passkey(let passkey)): answer = .success([.string(passkey.digits)])
        case ("RequestAuthorization", .some), ("AuthorizeService", .some): answer = .success([])
        case ("RequestConfirmation", .passkey(let passkey)):
            answer = question.arguments.last?.number == Int(passkey.number) ? .success([]) : rejected
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

/// A pairing that runs. It belongs to the radio.
final class PairingAttempt {
    /// The object of the device.
    let path: String
    let pairing: DeviceTarget.Pairing
    /// A question of BlueZ that a person has to answer.
    var question: Bus.Message?
    /// Wakes the task that asks the person.
    let asked = Signal()
    /// Why the person gave no passkey.
    var failure: LinkError?

    init(path: String, pairing: DeviceTarget.Pairing) { (self.path, self.pairing) = (path, pairing) }
}
